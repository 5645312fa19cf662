// The tree of a session's helpers.

import { useEffect, useState } from "preact/hooks";
import { get } from "./http";
import { ago, number, t } from "./i18n";
import { beside } from "./route";
import { Spin } from "./spin";
import { attempt, sessions, statuses } from "./state";
import { plain } from "./text";

interface Helper {
  id: string;
  title: string;
  agent?: string;
  state: string;
  background?: boolean;
  branch?: string;
  tokens: number;
  updated: number;
  helpers?: Helper[];
}

function Row(props: { helper: Helper; depth: number }) {
  const { helper: h } = props;
  return (
    <li>
      <a href={beside(h.id)}>{plain(h.title) || t("untitled")}</a>
      <p class="quiet">
        {statuses.value.has(h.id) && <Spin label={t("running")} />}
        {[h.agent ?? "", t(stateWord(h.state)), h.background ? t("background") : "", h.branch ?? "", `${number(h.tokens)} ${t("tokens")}`, ago(h.updated)].filter(Boolean).map(plain).join(" · ")}
      </p>
      {h.helpers && h.helpers.length > 0 && <Rows list={h.helpers} depth={props.depth + 1} />}
    </li>
  );
}

function stateWord(state: string) {
  switch (state) {
    case "working":
      return "running";
    case "waiting":
      return "waits";
    case "elsewhere":
      return "elsewhere";
    case "interrupted":
      return "interrupted";
    case "failed":
      return "failed";
  }
  return "idle";
}

function Rows(props: { list: Helper[]; depth: number }) {
  return (
    <ul class="helpers">
      {props.list.map((h) => (
        <Row key={h.id} helper={h} depth={props.depth} />
      ))}
    </ul>
  );
}

export function Helpers(props: { id: string }) {
  const [tree, setTree] = useState<Helper>();
  const running = [...statuses.value.keys()].join();
  const count = sessions.value.size;
  useEffect(() => {
    void attempt(get<Helper>(`/lathe/session/${props.id}/tree`)).then(setTree);
  }, [props.id, running, count]);
  return (
    <section class="panel" aria-label={t("helpers")}>
      {!tree && <p class="quiet">{t("loading")}</p>}
      {tree && (tree.helpers?.length ? <Rows list={tree.helpers} depth={0} /> : <p class="quiet">{t("noHelpers")}</p>)}
    </section>
  );
}
