// One session: its messages, what waits for an answer, and where to write.

import { computed, useComputed, type Signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Waiting } from "./asks";
import { Attachment, ToolCard } from "./cards";
import { Composer } from "./composer";
import { follow, attempt, known, sessions, statuses, tell } from "./state";
import type { Conversation, Entry } from "./conversation";
import { Diff } from "./diff";
import { copy, Markdown } from "./html";
import { get, send } from "./http";
import { ago, money, number, t } from "./i18n";
import { go, toSession, without } from "./route";
import { base, plain, within } from "./text";
import type { Assistant, FileDiff, Part, Session } from "./wire";

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

interface Acts {
  again(entry: Entry): Promise<void>;
  revert(entry: Entry): Promise<void>;
  fork(entry: Entry): Promise<void>;
}

function textOf(e: Entry): string {
  return e.parts
    .peek()
    .map((p) => p.peek())
    .filter((p) => p.type === "text" && !p.synthetic)
    .map((p) => (p.type === "text" ? p.text : ""))
    .join("\n\n");
}

function MessageView(props: { entry: Entry; session: Session; gone: boolean; acts: Acts }) {
  const { entry, session, acts } = props;
  const info = entry.info.value;
  const mine = info.role === "user";
  const open = !mine && info.time.completed === undefined && info.error === undefined;
  const failure = mine ? undefined : info.error;
  return (
    <article id={entry.id} class={(mine ? "message mine" : "message") + (props.gone ? " gone" : "")} aria-label={mine ? t("you") : (info.agent ?? info.mode ?? "lathe")}>
      {entry.parts.value.map((p) => (
        <PartView key={p.peek().id} part={p} dir={session.directory} mine={mine} open={open} />
      ))}
      {failure && <p class="bad">{plain(failure.name === "MessageAbortedError" ? t("abort") : (failure.data?.message ?? failure.name))}</p>}
      <p class="acts">
        <a class="quiet" href={toSession(session.id, entry.id)} title={t("link")}>
          {ago(info.time.created)}
        </a>
        {!mine && <Weight info={info} />}
        <button type="button" onClick={() => copy(textOf(entry))}>
          {t("copy")}
        </button>
        {mine && (
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
  return (
    <span class="quiet">
      {plain(modelID ?? "")} · {number(input)} → {number(tokens.output)}
      {cost ? ` · ${money(cost)}` : ""}
    </span>
  );
}

/** Keeps the reader where they are: at the end while it grows, else where they read. */
function useScroll(c: Conversation, ready: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const [away, setAway] = useState(false);
  const pinned = useRef(true);
  const height = useRef(0);
  const first = useRef("");
  const last = useRef(0); // where it was scrolled to
  useLayoutEffect(() => {
    const b = box.current;
    if (!b) return;
    const keep = () => {
      const top = c.entries.peek()[0]?.id ?? "";
      if (pinned.current) b.scrollTop = b.scrollHeight;
      else if (first.current !== "" && top !== first.current) b.scrollTop += b.scrollHeight - height.current; // older ones came above
      first.current = top;
      height.current = b.scrollHeight;
    };
    const watch = new ResizeObserver(keep);
    if (b.firstElementChild) watch.observe(b.firstElementChild);
    watch.observe(b);
    keep();
    return () => watch.disconnect();
  }, [c, ready]);
  const onScroll = () => {
    const b = box.current;
    if (!b) return;
    // Only a reader who scrolls up leaves the end; a place that gets smaller does not.
    if (b.scrollHeight - b.scrollTop - b.clientHeight < 40) pinned.current = true;
    else if (b.scrollTop < last.current) pinned.current = false;
    last.current = b.scrollTop;
    setAway(!pinned.current);
    if (pinned.current) c.trim();
    if (b.scrollTop < 600) void c.older();
  };
  const end = () => {
    const b = box.current;
    if (!b) return;
    pinned.current = true;
    b.scrollTop = b.scrollHeight;
  };
  const show = (id: string) => {
    pinned.current = false;
    setAway(true);
    requestAnimationFrame(() => document.getElementById(id)?.scrollIntoView({ block: "start" }));
  };
  return { box, away, onScroll, end, show };
}

type Panel = "" | "files" | "timeline";

export function Chat(props: { id: string; message: string; alone: boolean }) {
  const { id } = props;
  const held = useMemo(() => follow(id), [id]);
  useEffect(() => held.leave, [held]);
  const c = held.conversation;
  const [other, setOther] = useState<Session>();
  const session = sessions.value.get(id) ?? other;
  useEffect(() => {
    if (sessions.peek().has(id)) return;
    void attempt(get<Session>(`/session/${id}`)).then((s) => {
      setOther(s);
      if (s) known(s);
    });
  }, [id]);
  const [start, setStart] = useState<string>();
  const [panel, setPanel] = useState<Panel>("");
  const ready = session !== undefined && !(c.loading.value && c.entries.value.length === 0);
  const scroll = useScroll(c, ready);
  useEffect(() => {
    if (!ready || props.message === "") return;
    void c.reach(props.message).then((there) => {
      if (there) scroll.show(props.message);
      else tell(t("noMatch"), true);
    });
  }, [ready, props.message]);
  const family = useComputed(() => {
    const ids = new Set([id]);
    for (let n = 0; n !== ids.size; ) {
      n = ids.size;
      for (const s of sessions.value.values()) if (s.parentID !== undefined && ids.has(s.parentID)) ids.add(s.id);
    }
    return ids;
  });
  if (!session) return <main class="chat empty">{c.failed.value === "" ? t("loading") : plain(c.failed.value)}</main>;
  const status = statuses.value.get(id);
  const reverted = session.revert?.messageID ?? "";
  const acts: Acts = {
    async revert(entry) {
      await attempt(send("POST", `/lathe/session/${id}/revert`, { messageID: entry.id }));
    },
    async again(entry) {
      const text = textOf(entry);
      if ((await attempt(send("POST", `/lathe/session/${id}/revert`, { messageID: entry.id }))) !== undefined) setStart(text);
    },
    async fork(entry) {
      const made = await attempt(send<Session>("POST", `/session/${id}/fork`, { messageID: entry.id }));
      if (!made) return;
      known(made);
      go(toSession(made.id));
    },
  };
  return (
    <main class="chat" aria-label={plain(session.title)}>
      <header class="bar">
        <div class="titles">
          <h2>{plain(session.title) || t("untitled")}</h2>
          <span class="quiet mono" title={session.directory}>
            {plain(base(session.directory))}
            {session.cost ? ` · ${money(session.cost)}` : ""}
          </span>
        </div>
        <button type="button" aria-pressed={panel === "files"} onClick={() => setPanel(panel === "files" ? "" : "files")}>
          {t("changed")}
          {session.summary && session.summary.files > 0 ? ` (${session.summary.files})` : ""}
        </button>
        <button type="button" aria-pressed={panel === "timeline"} onClick={() => setPanel(panel === "timeline" ? "" : "timeline")}>
          {t("timeline")}
        </button>
        {!props.alone && (
          <a class="button" href={without(id)}>
            {t("close")}
          </a>
        )}
      </header>
      {panel === "files" && <Changed id={id} dir={session.directory} />}
      {panel === "timeline" && <Timeline c={c} session={session} acts={acts} show={scroll.show} />}
      <div class="scroll" ref={scroll.box} onScroll={scroll.onScroll} tabIndex={0} role="log" aria-label={t("messages")} aria-live="polite" aria-busy={status !== undefined}>
        <div class="messages">
          {c.more.value && (
            <button type="button" class="quiet" onClick={() => void c.older()}>
              {t("older")}
            </button>
          )}
          {c.entries.value.map((e) => (
            <MessageView key={e.id} entry={e} session={session} gone={reverted !== "" && e.id >= reverted} acts={acts} />
          ))}
          {c.entries.value.length === 0 && <p class="quiet">{c.loading.value ? t("loading") : plain(c.failed.value) || t("empty")}</p>}
          {reverted !== "" && (
            <p class="rule">
              {t("reverted")}{" "}
              <button type="button" onClick={() => void attempt(send("POST", `/lathe/session/${id}/unrevert`))}>
                {t("redo")}
              </button>
            </p>
          )}
          {status && (
            <p class="quiet working" role="status">
              <span class="spin" />
              {status.type === "retry" ? t("retry", { n: status.attempt, why: plain(status.message) }) : t("thinking")}
            </p>
          )}
        </div>
      </div>
      {scroll.away && (
        <button type="button" class="jump" onClick={scroll.end}>
          {t("jump")} ↓
        </button>
      )}
      {c.todos.value.some((todo) => todo.status !== "completed" && todo.status !== "cancelled") && (
        <details class="todos">
          <summary>
            {t("todos")} ({c.todos.value.filter((todo) => todo.status === "completed").length}/{c.todos.value.length})
          </summary>
          <ul>
            {c.todos.value.map((todo, i) => (
              <li key={i} class={todo.status}>
                {plain(todo.content)}
              </li>
            ))}
          </ul>
        </details>
      )}
      <Waiting ids={family.value} />
      <Composer key={id} session={session} start={start} taken={() => setStart(undefined)} />
    </main>
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
function Timeline(props: { c: Conversation; session: Session; acts: Acts; show: (id: string) => void }) {
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
            <button type="button" onClick={() => void props.acts.revert(s.entry)}>
              {t("revertHere")}
            </button>
          </li>
        ))}
      </ol>
    </section>
  );
}

