// One session: its messages, what waits for an answer, and where to write.

import { useComputed } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Waiting } from "./asks";
import { Composer } from "./composer";
import type { Conversation } from "./conversation";
import { get, send } from "./http";
import { money, t } from "./i18n";
import { MessageView, textOf, type Acts } from "./message";
import { PanelButtons, PanelView, type Panel } from "./panels";
import { go, toSession, without } from "./route";
import { useScroll } from "./scroll";
import { Spin } from "./spin";
import { attempt, follow, known, sessions, statuses, tell } from "./state";
import { base, plain } from "./text";
import { TodoList } from "./todolist";
import { revert, unrevert } from "./undo";
import type { Session } from "./wire";

/** The session, also where the list does not have it: a helper's, or an archived one. */
function useSession(id: string): Session | undefined {
  const [other, setOther] = useState<Session>();
  useEffect(() => {
    if (sessions.peek().has(id)) return;
    void attempt(get<Session>(`/session/${id}`)).then((s) => {
      setOther(s);
      if (s) known(s);
    });
  }, [id]);
  return sessions.value.get(id) ?? other;
}

/** The session and its helpers, theirs included: what they ask is asked here too. */
function useFamily(id: string): ReadonlySet<string> {
  return useComputed(() => {
    const ids = new Set([id]);
    for (let n = 0; n !== ids.size; ) {
      n = ids.size;
      for (const s of sessions.value.values()) if (s.parentID !== undefined && ids.has(s.parentID)) ids.add(s.id);
    }
    return ids;
  }).value;
}

function actsOf(id: string, again: (text: string) => void): Acts {
  return {
    async revert(entry) {
      await revert(id, entry.id);
    },
    async again(entry) {
      const text = textOf(entry);
      if (await revert(id, entry.id)) again(text);
    },
    async fork(entry) {
      const made = await attempt(send<Session>("POST", `/session/${id}/fork`, { messageID: entry.id }));
      if (!made) return;
      known(made);
      go(toSession(made.id));
    },
  };
}

function Todos(props: { c: Conversation }) {
  const todos = props.c.todos.value;
  if (!todos.some((todo) => todo.status !== "completed" && todo.status !== "cancelled")) return null;
  return (
    <details class="todos">
      <summary>
        {t("todos")} ({todos.filter((todo) => todo.status === "completed").length}/{todos.length})
      </summary>
      <TodoList todos={todos} />
    </details>
  );
}

function Working(props: { id: string }) {
  const status = statuses.value.get(props.id);
  if (!status) return null;
  return (
    <p class="quiet working" role="status">
      <Spin />
      {status.type === "retry" ? t("retry", { n: status.attempt, why: plain(status.message) }) : t("thinking")}
    </p>
  );
}

function Undone(props: { session: Session }) {
  if (!props.session.revert) return null;
  return (
    <p class="rule">
      {t("reverted")}{" "}
      <button type="button" onClick={() => void unrevert(props.session.id)}>
        {t("redo")}
      </button>
    </p>
  );
}

/** The messages that are held; without acts they can only be read. */
export function Messages(props: { c: Conversation; session: Session; marked: string; acts: Acts | undefined }) {
  const { c, session } = props;
  const reverted = session.revert?.messageID ?? "";
  return (
    <div class="messages">
      {c.more.value && (
        <button type="button" class="quiet" onClick={() => void c.older()}>
          {t("older")}
        </button>
      )}
      {c.entries.value.map((e) => (
        <MessageView key={e.id} entry={e} session={session} gone={reverted !== "" && e.id >= reverted} marked={e.id === props.marked} acts={props.acts} />
      ))}
      {c.entries.value.length === 0 && <p class="quiet">{c.loading.value ? t("loading") : plain(c.failed.value) || t("empty")}</p>}
      {props.acts && !c.newer.value && <Undone session={session} />}
      {props.acts && !c.newer.value && <Working id={session.id} />}
    </div>
  );
}

export function Chat(props: { id: string; message: string; alone: boolean }) {
  const { id } = props;
  const held = useMemo(() => follow(id), [id]);
  useEffect(() => held.leave, [held]);
  const c = held.conversation;
  const session = useSession(id);
  const [start, setStart] = useState<string>();
  const [panel, setPanel] = useState<Panel>("");
  const ready = session !== undefined && !(c.loading.value && c.entries.value.length === 0);
  const scroll = useScroll(c, ready);
  const acts = useMemo(() => actsOf(id, setStart), [id]);
  useEffect(() => {
    if (!ready || props.message === "") return;
    void c.reach(props.message).then((there) => {
      if (there) scroll.show(props.message);
      else tell(t("noMatch"), true);
    });
  }, [ready, props.message]);
  const family = useFamily(id);
  if (!session) return <main class="chat empty">{c.failed.value === "" ? t("loading") : plain(c.failed.value)}</main>;
  const show = (message: string) => void c.reach(message).then((there) => there && scroll.show(message));
  return (
    <main class={panel === "" ? "chat" : "chat paneled"} aria-label={plain(session.title)}>
      <header class="bar">
        <div class="titles">
          <h2>{plain(session.title) || t("untitled")}</h2>
          <span class="quiet mono" title={session.directory}>
            {plain(base(session.directory))}
            {session.cost ? ` · ${money(session.cost)}` : ""}
          </span>
        </div>
        <PanelButtons session={session} family={family} panel={panel} open={setPanel} />
        {!props.alone && (
          <a class="button" href={without(id)}>
            {t("close")}
          </a>
        )}
      </header>
      <div class="talk">
        <div
          class="scroll"
          ref={scroll.box}
          onScroll={scroll.onScroll}
          onKeyDown={scroll.onKeyDown}
          tabIndex={0}
          role="log"
          aria-label={t("messages")}
          aria-live="polite"
          aria-busy={statuses.value.has(id)}
        >
          <Messages c={c} session={session} marked={props.message} acts={acts} />
        </div>
        {(scroll.away || c.newer.value) && (
          <button type="button" class="jump" onClick={() => void scroll.end()}>
            {t("jump")} ↓
          </button>
        )}
        <Todos c={c} />
        <Waiting ids={family} />
        <Composer key={id} session={session} start={start} taken={() => setStart(undefined)} />
      </div>
      <PanelView panel={panel} session={session} c={c} close={() => setPanel("")} show={show} />
    </main>
  );
}
