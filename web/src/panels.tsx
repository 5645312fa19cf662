// What can be opened beside a conversation.

import { computed } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Conversation, Entry } from "./conversation";
import { Diff } from "./diff";
import { get } from "./http";
import { ago, t } from "./i18n";
import { textOf } from "./message";
import { attempt, statuses } from "./state";
import { plain, within } from "./text";
import { revert } from "./undo";
import type { FileDiff, Session } from "./wire";

export type Panel = "" | "files" | "timeline";

export function PanelButtons(props: { session: Session; family: ReadonlySet<string>; panel: Panel; open: (p: Panel) => void }) {
  const { panel, open } = props;
  const changed = props.session.summary?.files ?? 0;
  return (
    <>
      <button type="button" aria-pressed={panel === "files"} onClick={() => open(panel === "files" ? "" : "files")}>
        {t("changed")}
        {changed > 0 ? ` (${changed})` : ""}
      </button>
      <button type="button" aria-pressed={panel === "timeline"} onClick={() => open(panel === "timeline" ? "" : "timeline")}>
        {t("timeline")}
      </button>
    </>
  );
}

export function PanelView(props: { panel: Panel; session: Session; c: Conversation; close: () => void; show: (message: string) => void }) {
  const { session } = props;
  if (props.panel === "") return null;
  return (
    <aside class="side">
      {props.panel === "files" && <Changed id={session.id} dir={session.directory} />}
      {props.panel === "timeline" && <Timeline c={props.c} session={session} show={props.show} />}
    </aside>
  );
}

function Changed(props: { id: string; dir: string }) {
  const [list, setList] = useState<FileDiff[]>();
  const busy = statuses.value.has(props.id);
  useEffect(() => {
    void attempt(get<FileDiff[]>(`/session/${props.id}/diff`)).then(setList);
  }, [props.id, busy]);
  return (
    <section class="panel" aria-label={t("changed")}>
      {!list && <p class="quiet">{t("loading")}</p>}
      {list?.length === 0 && <p class="quiet">{t("empty")}</p>}
      {list?.map((f) => (
        <details key={f.file}>
          <summary>
            <span class="mono">{plain(within(f.file, props.dir))}</span> <span class="added">+{f.additions}</span> <span class="removed">−{f.deletions}</span>
          </summary>
          <Diff patch={f.patch ?? f.diff ?? ""} label={f.file} />
        </details>
      ))}
    </section>
  );
}

/** The prompts of a session with what each of them changed. */
function Timeline(props: { c: Conversation; session: Session; show: (id: string) => void }) {
  const { c, session } = props;
  const steps = useMemo(
    () =>
      computed(() => {
        const out: { entry: Entry; files: Set<string>; steps: number }[] = [];
        for (const e of c.entries.value) {
          if (e.info.value.role === "user") out.push({ entry: e, files: new Set(), steps: 0 });
          const last = out[out.length - 1];
          if (!last || e.info.value.role === "user") continue;
          last.steps++;
          for (const p of e.parts.value) {
            const part = p.value;
            if (part.type === "patch") part.files?.forEach((f) => last.files.add(f));
          }
        }
        return out;
      }),
    [c],
  );
  return (
    <section class="panel" aria-label={t("timeline")}>
      {c.more.value && (
        <button type="button" class="quiet" onClick={() => void c.older()}>
          {t("older")}
        </button>
      )}
      <ol class="timeline">
        {steps.value.map((s) => (
          <li key={s.entry.id} class={session.revert && s.entry.id >= session.revert.messageID ? "gone" : ""}>
            <button type="button" class="link" onClick={() => props.show(s.entry.id)}>
              {plain(textOf(s.entry)).slice(0, 160) || "…"}
            </button>
            <p class="quiet">
              {ago(s.entry.info.value.time.created)} · {t("steps", { n: s.steps })}
              {s.files.size > 0 && ` · ${t("edited", { n: s.files.size })}`}
            </p>
            {s.files.size > 0 && <p class="mono small">{[...s.files].slice(0, 8).map((f) => within(f, session.directory)).join("  ")}</p>}
            <button type="button" onClick={() => void revert(session.id, s.entry.id)}>
              {t("revertHere")}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}
