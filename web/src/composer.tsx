// Where a person writes.

import { useEffect, useRef, useState } from "preact/hooks";
import { deliver } from "./deliver";
import { get, send } from "./http";
import { t } from "./i18n";
import { mentions, type Choice } from "./mention";
import { attempt, chosenAgent, chosenModel, drafts, history, statuses, tell } from "./state";
import { base, plain } from "./text";
import type { Model, Session } from "./wire";

interface Attached {
  name: string;
  mime: string;
  url: string;
}

interface Listed {
  models: (Model & { name?: string; default?: boolean; variants?: string[] })[];
  agents: { name: string; mode?: string; hidden?: boolean; description?: string }[];
  commands: { name: string; description?: string }[];
}

const listed = new Map<string, Promise<Listed>>();

/** Forgets which models, agents and commands a directory has. */
export function forget(dir: string): void {
  listed.delete(dir);
}

function lists(dir: string): Promise<Listed> {
  let p = listed.get(dir);
  if (!p) {
    p = Promise.all([
      get<Listed["models"]>("/lathe/model", { directory: dir }),
      get<Listed["agents"]>("/agent", { directory: dir }),
      get<Listed["commands"]>("/command", { directory: dir }),
    ]).then(([models, agents, commands]) => ({ models, agents, commands }));
    p.catch(() => listed.delete(dir));
    listed.set(dir, p);
  }
  return p;
}

const maxAttached = 20 << 20;

function load(file: File): Promise<Attached> {
  return new Promise((done, failed) => {
    const r = new FileReader();
    r.onload = () => done({ name: file.name, mime: file.type || "text/plain", url: r.result as string });
    r.onerror = () => failed(r.error ?? new Error(file.name));
    r.readAsDataURL(file);
  });
}

/** The word that is being written, where it asks for a choice. */
export function asked(text: string, at: number): { kind: "@" | "/"; from: number; word: string } | undefined {
  const before = text.slice(0, at);
  const command = /^\/([\w:.-]*)$/.exec(before);
  if (command) return { kind: "/", from: 0, word: command[1] ?? "" };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (file) return { kind: "@", from: at - (file[1]?.length ?? 0) - 1, word: file[1] ?? "" };
  return undefined;
}

/** The body of a prompt. */
export function prompt(text: string, files: Attached[], model: Model | null, agent: string, commands: ReadonlySet<string>): object {
  const rest = { ...(model ? { model: { providerID: model.providerID, modelID: model.modelID }, ...(model.variant ? { variant: model.variant } : {}) } : {}), ...(agent ? { agent } : {}) };
  const attached = files.map((f) => ({ type: "file", mime: f.mime, filename: f.name, url: f.url }));
  if (text.startsWith("!") && text.length > 1 && files.length === 0) return { ...rest, parts: [], lathe: { shell: text.slice(1).trim() } };
  const command = /^\/([\w:.-]+)\s*([\s\S]*)$/.exec(text);
  if (command?.[1] !== undefined && commands.has(command[1])) return { ...rest, parts: attached, lathe: { command: command[1], arguments: command[2] ?? "" } };
  return { ...rest, parts: [{ type: "text", text }, ...attached], lathe: { refs: true } };
}

export function Composer(props: { session: Session; start?: string | undefined; taken?: () => void }) {
  const { session } = props;
  const dir = session.directory;
  const [value, setValue] = useState(drafts.peek()[session.id] ?? "");
  const [files, setFiles] = useState<Attached[]>([]);
  const [choices, setChoices] = useState<Choice[]>([]);
  const [picked, setPicked] = useState(0);
  const [sending, setSending] = useState(false);
  const [have, setHave] = useState<Listed>();
  const [past, setPast] = useState(-1);
  const box = useRef<HTMLTextAreaElement>(null);
  const busy = statuses.value.has(session.id);

  useEffect(() => {
    void attempt(lists(dir)).then((l) => setHave(l));
  }, [dir]);
  useEffect(() => {
    if (props.start === undefined) return;
    setValue(props.start);
    box.current?.focus();
    props.taken?.();
  }, [props.start]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const all = { ...drafts.peek() };
      // eslint-disable-next-line @typescript-eslint/no-dynamic-delete
      if (value === "") delete all[session.id];
      else all[session.id] = value;
      drafts.value = all;
    }, 300);
    return () => clearTimeout(timer);
  }, [value, session.id]);
  useEffect(() => {
    const b = box.current;
    if (!b) return;
    b.style.height = "auto";
    b.style.height = `${Math.min(b.scrollHeight + 2, window.innerHeight * 0.4)}px`;
  }, [value]);

  const suggest = async (text: string, at: number) => {
    const want = asked(text, at);
    if (!want) return setChoices([]);
    if (want.kind === "/") {
      const commands = (have?.commands ?? []).filter((c) => c.name.startsWith(want.word));
      setPicked(0);
      return setChoices(commands.slice(0, 8).map((c) => ({ insert: `/${c.name} `, label: "/" + c.name, about: c.description ?? "" })));
    }
    const found = await mentions(want.word, dir, have?.agents ?? []);
    if (box.current?.value !== text) return; // more was written meanwhile
    setPicked(0);
    setChoices(found);
  };

  const choose = (c: Choice) => {
    const b = box.current;
    const want = b && asked(value, b.selectionStart);
    if (!want) return;
    const next = value.slice(0, want.from) + c.insert + value.slice(b.selectionStart);
    const at = want.from + c.insert.length;
    b.value = next; // at once: who goes on writing does so behind it
    b.focus();
    b.setSelectionRange(at, at);
    setValue(next);
    setChoices([]);
    if (c.insert.endsWith("/")) void suggest(next, at);
  };

  const add = async (list: Iterable<File>) => {
    for (const f of list) {
      if (f.size > maxAttached) tell(`${f.name}: > ${maxAttached >> 20} MiB`, true);
      else {
        const loaded = await attempt(load(f));
        if (loaded) setFiles((all) => [...all, loaded]);
      }
    }
  };

  const submit = async () => {
    const text = value.trim();
    if ((text === "" && files.length === 0) || sending) return;
    setSending(true);
    const names = new Set((have?.commands ?? []).map((c) => c.name));
    const body = prompt(text, files, chosenModel.peek(), chosenAgent.peek(), names);
    const done = await attempt(deliver(session.id, body));
    setSending(false);
    if (done === undefined) return; // what was written stays
    if (text !== "") history.value = [...history.peek().filter((h) => h !== text), text].slice(-100);
    setValue("");
    setFiles([]);
    setPast(-1);
  };

  const recall = (step: number) => {
    const all = history.peek();
    const next = Math.max(-1, Math.min(all.length - 1, past + step));
    setPast(next);
    setValue(next < 0 ? "" : (all[all.length - 1 - next] ?? ""));
  };

  const key = (e: KeyboardEvent & { currentTarget: HTMLTextAreaElement }) => {
    // While an input method composes, its keys are its own.
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- Safari ends composing before the key that ended it
    if (e.isComposing || e.keyCode === 229) return;
    const b = e.currentTarget;
    if (choices.length > 0) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      if (step !== undefined) setPicked((picked + step + choices.length) % choices.length);
      else if (e.key === "Enter" || e.key === "Tab") choose(choices[picked] ?? { insert: "", label: "", about: "" });
      else if (e.key === "Escape") setChoices([]);
      else return;
      e.preventDefault();
      return;
    }
    if (e.key === "Enter" && !e.shiftKey && !e.altKey) {
      e.preventDefault();
      void submit();
    } else if (e.key === "ArrowUp" && b.selectionStart === 0 && b.selectionEnd === 0 && (value === "" || past >= 0)) {
      e.preventDefault();
      recall(1);
    } else if (e.key === "ArrowDown" && past >= 0 && b.selectionStart === value.length) {
      e.preventDefault();
      recall(-1);
    } else if (e.key === "Escape" && busy) void abort();
  };
  const abort = () => attempt(send("POST", `/session/${session.id}/abort`));

  const model = chosenModel.value;
  const named = (m: Model) => [m.providerID, m.modelID, m.variant].filter(Boolean).join("/");
  return (
    <form
      class="composer"
      aria-label={t("prompt")}
      onSubmit={(e) => {
        e.preventDefault();
        void submit();
      }}
      onDragOver={(e) => e.preventDefault()}
      onDrop={(e) => {
        e.preventDefault();
        if (e.dataTransfer) void add(e.dataTransfer.files);
      }}
    >
      {choices.length > 0 && (
        <ul class="choices" role="listbox" id={`choices-${session.id}`}>
          {choices.map((c, i) => (
            <li
              key={c.insert}
              role="option"
              id={`choice-${session.id}-${i}`}
              aria-selected={i === picked}
              onMouseDown={(e) => {
                e.preventDefault();
                choose(c);
              }}
            >
              <span class="mono">{plain(c.label)}</span> <span class="quiet">{plain(c.about)}</span>
            </li>
          ))}
        </ul>
      )}
      {files.length > 0 && (
        <p class="chips" aria-label={t("attached")}>
          {files.map((f, i) => (
            <button key={i} type="button" class="chip" aria-label={`${t("delete")} ${f.name}`} onClick={() => setFiles(files.filter((_, k) => k !== i))}>
              {base(f.name)} ×
            </button>
          ))}
        </p>
      )}
      <textarea
        ref={box}
        rows={1}
        value={value}
        placeholder={t("prompt")}
        aria-label={t("prompt")}
        aria-describedby={`hint-${session.id}`}
        aria-controls={choices.length > 0 ? `choices-${session.id}` : undefined}
        aria-autocomplete="list"
        aria-activedescendant={choices.length > 0 ? `choice-${session.id}-${picked}` : undefined}
        onInput={(e) => {
          setValue(e.currentTarget.value);
          setPast(-1);
          void suggest(e.currentTarget.value, e.currentTarget.selectionStart);
        }}
        onKeyDown={key}
        onPaste={(e) => {
          const list = e.clipboardData?.files;
          if (list && list.length > 0) {
            e.preventDefault();
            void add(list);
          }
        }}
      />
      <p class="row">
        <select
          aria-label={t("model")}
          value={model ? named(model) : ""}
          onChange={(e) => {
            const m = have?.models.find((m) => named(m) === e.currentTarget.value);
            chosenModel.value = m ? { providerID: m.providerID, modelID: m.modelID, ...(m.variant ? { variant: m.variant } : {}) } : null;
          }}
        >
          <option value="">{session.model ? `${session.model.providerID}/${session.model.id}` : t("model")}</option>
          {have?.models.map((m) => (
            <option key={named(m)} value={named(m)}>
              {m.name ?? named(m)} · {m.providerID}
            </option>
          ))}
        </select>
        <select aria-label={t("agent")} value={chosenAgent.value} onChange={(e) => (chosenAgent.value = e.currentTarget.value)}>
          <option value="">{t("agent")}</option>
          {have?.agents
            .filter((a) => a.mode !== "subagent" && !a.hidden)
            .map((a) => (
              <option key={a.name} value={a.name}>
                {a.name}
              </option>
            ))}
        </select>
        <label class="button">
          {t("attach")}
          <input
            type="file"
            multiple
            class="hidden"
            onChange={(e) => {
              void add(e.currentTarget.files ?? []);
              e.currentTarget.value = "";
            }}
          />
        </label>
        <span class="space" />
        {busy && (
          <button type="button" class="danger" onClick={() => void abort()}>
            {t("abort")}
          </button>
        )}
        <button type="submit" class="main" disabled={sending}>
          {t("send")}
        </button>
      </p>
      <p class="quiet hint" id={`hint-${session.id}`}>
        {busy ? t("queue") : t("composerHint")}
      </p>
      {have?.models.length === 0 && <p class="bad">{t("noModel")}</p>}
    </form>
  );
}
