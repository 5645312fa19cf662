// What can be opened beside a conversation.

import type { Conversation } from "./conversation";
import { t } from "./i18n";
import type { Words } from "./i18n/en";
import { lazy } from "./lazy";
import type { Session } from "./wire";

export type Panel = "" | "changes" | "timeline" | "files" | "context" | "helpers" | "terminal";

const names: [Exclude<Panel, "">, keyof Words][] = [
  ["changes", "changed"],
  ["timeline", "timeline"],
  ["files", "files"],
  ["context", "context"],
  ["helpers", "helpers"],
  ["terminal", "terminal"],
];

const Changes = lazy(() => import("./changes").then((m) => m.Changes));
const Timeline = lazy(() => import("./timeline").then((m) => m.Timeline));
const Files = lazy(() => import("./files").then((m) => m.Files));
const Context = lazy(() => import("./context").then((m) => m.Context));
const Helpers = lazy(() => import("./helpers").then((m) => m.Helpers));
const Terminal = lazy(() => import("./terminal").then((m) => m.Terminal));

export function PanelButtons(props: { session: Session; family: ReadonlySet<string>; panel: Panel; open: (p: Panel) => void }) {
  const { panel, open, session } = props;
  const label = (name: Panel, word: keyof Words) => {
    const n = name === "changes" ? (session.summary?.files ?? 0) : name === "helpers" ? props.family.size - 1 : 0;
    return t(word) + (n > 0 ? ` (${n})` : "");
  };
  return (
    <>
      {names.map(([name, word]) => (
        <button key={name} type="button" class="wide" aria-pressed={panel === name} onClick={() => open(panel === name ? "" : name)}>
          {label(name, word)}
        </button>
      ))}
      <select class="narrow" aria-label={t("beside")} value={panel} onChange={(e) => open(e.currentTarget.value as Panel)}>
        <option value="">{t("messages")}</option>
        {names.map(([name, word]) => (
          <option key={name} value={name}>
            {label(name, word)}
          </option>
        ))}
      </select>
    </>
  );
}

export function PanelView(props: { panel: Panel; session: Session; c: Conversation; close: () => void; show: (message: string) => void }) {
  const { session, panel } = props;
  if (panel === "") return null;
  return (
    <aside class="side" aria-label={t("beside")}>
      {panel === "changes" && <Changes id={session.id} dir={session.directory} />}
      {panel === "timeline" && <Timeline session={session} show={props.show} />}
      {panel === "files" && <Files dir={session.directory} />}
      {panel === "context" && <Context id={session.id} c={props.c} show={props.show} />}
      {panel === "helpers" && <Helpers id={session.id} />}
      {panel === "terminal" && <Terminal dir={session.directory} />}
    </aside>
  );
}
