// One message, and what can be done with it.

import type { Signal } from "@preact/signals";
import { Attachment, ToolCard } from "./cards";
import type { Entry } from "./conversation";
import { copy, Markdown } from "./html";
import { ago, money, number, t } from "./i18n";
import { toSession } from "./route";
import { plain } from "./text";
import type { Assistant, Part, Session } from "./wire";

function PartView(props: { part: Signal<Part>; dir: string; mine: boolean; open: boolean }) {
  const p = props.part.value;
  switch (p.type) {
    case "text":
      if (p.synthetic || p.ignored || p.text.trim() === "") return null;
      return props.mine ? <div class="said">{plain(p.text)}</div> : <Markdown text={p.text} growing={props.open && p.time?.end === undefined} />;
    case "reasoning":
      if (p.text.trim() === "") return null;
      return (
        <details class="reasoning">
          <summary>{t("reasoning")}</summary>
          <Markdown text={p.text} growing={props.open && p.time.end === undefined} />
        </details>
      );
    case "tool":
      return <ToolCard part={p} dir={props.dir} />;
    case "file":
      return <Attachment file={p} />;
    case "compaction":
      return <p class="rule">{t("compacted")}</p>;
    case "subtask":
      return (
        <p class="quiet">
          {t("subtask")}: {plain(p.description ?? p.prompt ?? "")}
        </p>
      );
    case "retry":
      return <p class="bad">{t("retry", { n: p.attempt ?? 1, why: plain(p.error?.data?.message ?? "") })}</p>;
    case "agent":
      return <span class="chip">@{plain(p.name ?? "")}</span>;
  }
  return null;
}

export interface Acts {
  again(entry: Entry): Promise<void>;
  revert(entry: Entry): Promise<void>;
  fork(entry: Entry): Promise<void>;
}

export function textOf(e: Entry): string {
  return e.parts
    .peek()
    .map((p) => p.peek())
    .filter((p) => p.type === "text" && !p.synthetic)
    .map((p) => (p.type === "text" ? p.text : ""))
    .join("\n\n");
}

export function MessageView(props: { entry: Entry; session: Session; gone: boolean; marked: boolean; acts: Acts | undefined }) {
  const { entry, session, acts } = props;
  const info = entry.info.value;
  const mine = info.role === "user";
  const open = !mine && info.time.completed === undefined && info.error === undefined;
  const failure = mine ? undefined : info.error;
  return (
    <article id={entry.id} class={(mine ? "message mine" : "message") + (props.gone ? " gone" : "") + (props.marked ? " marked" : "")} aria-label={mine ? t("you") : (info.agent ?? info.mode ?? "lathe")}>
      {entry.parts.value.map((p) => (
        <PartView key={p.peek().id} part={p} dir={session.directory} mine={mine} open={open} />
      ))}
      {failure && <p class="bad">{plain(failure.name === "MessageAbortedError" ? t("stopped") : (failure.data?.message ?? failure.name))}</p>}
      <p class="acts">
        {acts ? (
          <a class="quiet" href={toSession(session.id, entry.id)} title={t("link")}>
            {ago(info.time.created)}
          </a>
        ) : (
          <span class="quiet">{ago(info.time.created)}</span>
        )}
        {!mine && <Weight info={info} />}
        <button type="button" onClick={() => copy(textOf(entry))}>
          {t("copy")}
        </button>
        {mine && acts && (
          <>
            <button type="button" onClick={() => void acts.again(entry)}>
              {t("editAgain")}
            </button>
            <button type="button" onClick={() => void acts.revert(entry)}>
              {t("revertHere")}
            </button>
            <button type="button" onClick={() => void acts.fork(entry)}>
              {t("fork")}
            </button>
          </>
        )}
      </p>
    </article>
  );
}

function Weight(props: { info: Assistant }) {
  const { tokens, cost, modelID } = props.info;
  if (!tokens) return null;
  const input = tokens.input + tokens.cache.read + tokens.cache.write;
  if (input + tokens.output === 0) return <span class="quiet">{plain(modelID ?? "")}</span>;
  return (
    <span class="quiet">
      {plain(modelID ?? "")} · {number(input)} → {number(tokens.output)}
      {cost ? ` · ${money(cost)}` : ""}
    </span>
  );
}

