// The sessions of all projects, and what was said in them.

import { useEffect, useMemo, useState } from "preact/hooks";
import { get, request, send } from "./http";
import { ago, t } from "./i18n";
import { beside, go, place, toSession } from "./route";
import { archived, asks, attempt, create, directories, directory, everywhere, questions, ready, sessions, statuses } from "./state";
import { Spin } from "./spin";
import { base, plain } from "./text";
import type { Hit, Session } from "./wire";

export function useSearch(words: string): Hit[] | undefined {
  const [hits, setHits] = useState<Hit[]>();
  useEffect(() => {
    setHits(undefined);
    if (words.trim().length < 2) return;
    const gone = new AbortController();
    const timer = setTimeout(() => {
      get<Hit[]>("/lathe/search", { query: words, limit: 40, ...(everywhere.peek() ? { everywhere: true } : {}) }, gone.signal).then(setHits, () => undefined);
    }, 200);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [words]);
  return hits;
}

function Row(props: { session: Session; depth: number; archived?: () => void }) {
  const { session: s, depth } = props;
  const p = place.value;
  const here = p.kind === "sessions" && p.ids.includes(s.id);
  const waits = asks.value.some((a) => a.sessionID === s.id) || questions.value.some((q) => q.sessionID === s.id);
  const [open, setOpen] = useState(false);
  const rename = async () => {
    const title = prompt(t("rename"), s.title);
    if (title !== null && title.trim() !== "") await attempt(send("PATCH", `/lathe/session/${s.id}`, { title: title.trim() }));
  };
  const archive = async (value: boolean) => {
    await attempt(send("PATCH", `/lathe/session/${s.id}`, { archived: value }));
    props.archived?.();
  };
  const remove = async () => {
    if (!confirm(t("deleteSure", { title: s.title }))) return;
    await attempt(send("DELETE", `/session/${s.id}`));
    props.archived?.();
    if (here) go("#/");
  };
  const save = async () => {
    const res = await attempt(request(`/lathe/session/${s.id}/export`, { format: "html" }));
    if (!res) return;
    const a = document.createElement("a");
    a.href = URL.createObjectURL(await res.blob());
    a.download = `${s.title.replace(/[^\p{L}\p{N}._ -]/gu, "").trim().slice(0, 60) || s.id}.html`;
    a.click();
    URL.revokeObjectURL(a.href);
  };
  return (
    <li class={depth > 0 ? "child" : ""}>
      <div class={"session" + (here ? " here" : "")}>
        <a href={toSession(s.id)} aria-current={here ? "page" : undefined}>
          <span class="name">
            {statuses.value.has(s.id) && <Spin label={t("running")} />}
            {waits && <span class="dot" role="img" aria-label={t("waiting")} />}
            {plain(s.title) || t("untitled")}
          </span>
          <span class="quiet">
            {plain(base(s.directory))} · {ago(s.time.updated)}
          </span>
        </a>
        <button type="button" class="quiet" aria-expanded={open} aria-label={`${t("more")}: ${s.title}`} onClick={() => setOpen(!open)}>
          ⋯
        </button>
      </div>
      {open && (
        <p class="buttons small">
          <a class="button" href={beside(s.id)}>
            {t("openBeside")}
          </a>
          <button type="button" onClick={() => void rename()}>
            {t("rename")}
          </button>
          <button type="button" onClick={() => void save()}>
            {t("export")}
          </button>
          <button type="button" onClick={() => void archive(!s.time.archived)}>
            {s.time.archived ? t("restore") : t("archive")}
          </button>
          <button type="button" class="danger" onClick={() => void remove()}>
            {t("delete")}
          </button>
        </p>
      )}
    </li>
  );
}

function New() {
  const [dir, setDir] = useState("");
  const begin = async (d: string) => {
    const s = await attempt(create(d));
    if (s) go(toSession(s.id));
  };
  return (
    <form
      class="new"
      onSubmit={(e) => {
        e.preventDefault();
        void begin(dir || directory.value);
      }}
    >
      <button type="submit" class="main" disabled={!ready.value}>
        {t("newSession")}
      </button>
      {directories.value.length > 1 && (
        <select aria-label={t("directory")} value={dir || directory.value} onChange={(e) => setDir(e.currentTarget.value)}>
          {directories.value.map((d) => (
            <option key={d} value={d}>
              {d}
            </option>
          ))}
        </select>
      )}
    </form>
  );
}

export function Sidebar() {
  const [words, setWords] = useState("");
  const [old, setOld] = useState<Session[]>();
  const hits = useSearch(words);
  const all = sessions.value;
  const { roots, children } = useMemo(() => {
    const roots: Session[] = [];
    const children = new Map<string, Session[]>();
    for (const s of all.values()) {
      if (s.parentID === undefined) roots.push(s);
      else children.set(s.parentID, [...(children.get(s.parentID) ?? []), s]);
    }
    roots.sort((a, b) => b.time.updated - a.time.updated);
    return { roots, children };
  }, [all]);
  const tree = (s: Session, depth: number): preact.JSX.Element => (
    <>
      <Row key={s.id} session={s} depth={depth} />
      {depth < 3 && children.get(s.id)?.map((child) => tree(child, depth + 1))}
    </>
  );
  const named = words.trim() === "" ? [] : roots.filter((s) => s.title.toLowerCase().includes(words.trim().toLowerCase()));
  const showOld = () => void attempt(archived()).then(setOld);
  return (
    <nav class="sidebar" aria-label={t("sessions")}>
      <New />
      <input type="search" placeholder={t("search")} aria-label={t("search")} value={words} onInput={(e) => setWords(e.currentTarget.value)} />
      {words.trim() === "" ? (
        <ul class="sessions">
          {roots.map((s) => tree(s, 0))}
          {roots.length === 0 && <li class="quiet">{t("empty")}</li>}
        </ul>
      ) : (
        <ul class="sessions hits">
          {named.map((s) => (
            <Row key={s.id} session={s} depth={0} />
          ))}
          {hits?.map((h) => (
            <li key={`${h.messageID}-${h.text}`}>
              <div class="session">
                <a href={toSession(h.sessionID, h.messageID)}>
                  <span class="name">{plain(h.title) || t("untitled")}</span>
                  <span class="quiet">{plain(h.text)}</span>
                </a>
              </div>
            </li>
          ))}
          {hits?.length === 0 && named.length === 0 && <li class="quiet">{t("noMatch")}</li>}
        </ul>
      )}
      <details class="archive" onToggle={(e) => e.currentTarget.open && showOld()}>
        <summary>{t("archived")}</summary>
        <ul class="sessions">
          {old?.map((s) => (
            <Row key={s.id} session={s} depth={0} archived={showOld} />
          ))}
          {old?.length === 0 && <li class="quiet">{t("empty")}</li>}
        </ul>
      </details>
    </nav>
  );
}
