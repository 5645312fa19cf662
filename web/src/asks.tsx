// What waits for a person's answer: permissions and questions.

import { useEffect, useRef, useState } from "preact/hooks";
import { Diff } from "./diff";
import { t } from "./i18n";
import { send } from "./http";
import { asks, attempt, questions } from "./state";
import { plain } from "./text";
import type { Ask, QuestionAsk } from "./wire";

function answer(a: Ask, reply: "once" | "always" | "reject", more: { message?: string; patterns?: string[] } = {}): Promise<unknown> {
  return attempt(send("POST", `/session/${a.sessionID}/permissions/${a.id}`, { response: reply, reply, ...more }));
}

function value(v: unknown): string {
  return typeof v === "string" ? v : "";
}

function Permission(props: { ask: Ask; first: boolean }) {
  const { ask } = props;
  const [why, setWhy] = useState("");
  const [pattern, setPattern] = useState(ask.always.join("\n"));
  const [busy, setBusy] = useState(false);
  const box = useRef<HTMLFormElement>(null);
  const patch = value(ask.metadata["diff"]) || value(ask.metadata["patch"]);
  const command = value(ask.metadata["command"]);
  const reply = async (kind: "once" | "always" | "reject") => {
    setBusy(true);
    const patterns = pattern.split("\n").map((p) => p.trim()).filter(Boolean);
    const changed = patterns.join("\n") !== ask.always.join("\n");
    await answer(ask, kind, kind === "reject" ? (why === "" ? {} : { message: why }) : kind === "always" && changed ? { patterns } : {});
    setBusy(false);
  };
  useEffect(() => {
    if (props.first && document.activeElement === document.body) box.current?.querySelector<HTMLButtonElement>("button")?.focus();
  }, [props.first]);
  const what = ask.patterns.length > 0 && command === "" ? ask.patterns.join(", ") : "";
  return (
    <form class="ask" ref={box} aria-label={t("permission")} onSubmit={(e) => e.preventDefault()}>
      <h3>{t("askedFor", { what: plain(ask.permission) })}</h3>
      {command !== "" ? <pre class="code">{plain(command)}</pre> : <p class="mono">{plain(what)}</p>}
      {value(ask.metadata["description"]) !== "" && <p class="quiet">{plain(value(ask.metadata["description"]))}</p>}
      {patch !== "" && <Diff patch={patch} label={what} />}
      <p class="buttons">
        <button type="button" class="main" disabled={busy} onClick={() => void reply("once")}>
          {t("allowOnce")}
        </button>
        {ask.always.length > 0 && (
          <button type="button" disabled={busy || pattern.trim() === ""} onClick={() => void reply("always")}>
            {t("allowAlways")}
          </button>
        )}
        <button type="button" class="danger" disabled={busy} onClick={() => void reply("reject")}>
          {t("deny")}
        </button>
      </p>
      {ask.always.length > 0 && (
        <label>
          {t("patternHint")}
          <textarea class="mono" rows={Math.min(4, ask.always.length)} value={pattern} onInput={(e) => setPattern(e.currentTarget.value)} />
        </label>
      )}
      <label>
        {t("denyWhy")}
        <input value={why} onInput={(e) => setWhy(e.currentTarget.value)} />
      </label>
    </form>
  );
}

function Questions(props: { ask: QuestionAsk }) {
  const { ask } = props;
  const [chosen, setChosen] = useState<string[][]>(ask.questions.map(() => []));
  const [own, setOwn] = useState<string[]>(ask.questions.map(() => ""));
  const pick = (i: number, label: string, multiple: boolean) =>
    setChosen(chosen.map((list, k) => (k !== i ? list : list.includes(label) ? list.filter((l) => l !== label) : multiple ? [...list, label] : [label])));
  const answers = chosen.map((list, i) => [...list, ...(own[i]?.trim() ? [own[i].trim()] : [])]);
  return (
    <form
      class="ask"
      aria-label={t("offer")}
      onSubmit={(e) => {
        e.preventDefault();
        void attempt(send("POST", `/question/${ask.id}/reply`, { answers }));
      }}
    >
      {ask.questions.map((q, i) => (
        <fieldset key={i}>
          <legend>{plain(q.question)}</legend>
          {q.options.map((o) => (
            <label key={o.label} class="option">
              <input
                type={q.multiple ? "checkbox" : "radio"}
                name={`${ask.id}-${i}`}
                checked={chosen[i]?.includes(o.label) ?? false}
                onChange={() => pick(i, o.label, q.multiple ?? false)}
              />
              <span>
                {plain(o.label)}
                {o.description && <span class="quiet"> {plain(o.description)}</span>}
              </span>
            </label>
          ))}
          {q.custom !== false && (
            <input aria-label={t("answer")} placeholder={t("answer")} value={own[i]} onInput={(e) => setOwn(own.map((v, k) => (k === i ? e.currentTarget.value : v)))} />
          )}
        </fieldset>
      ))}
      <p class="buttons">
        <button type="submit" class="main" disabled={answers.some((a) => a.length === 0)}>
          {t("answer")}
        </button>
        <button type="button" class="danger" onClick={() => void attempt(send("POST", `/question/${ask.id}/reject`))}>
          {t("deny")}
        </button>
      </p>
    </form>
  );
}

/** What waits in these sessions. */
export function Waiting(props: { ids: ReadonlySet<string> }) {
  const mine = asks.value.filter((a) => props.ids.has(a.sessionID));
  return (
    <div class="asks" role="region" aria-live="assertive" aria-label={t("offer")}>
      {mine.map((a, i) => (
        <Permission key={a.id} ask={a} first={i === 0} />
      ))}
      {questions.value
        .filter((q) => props.ids.has(q.sessionID))
        .map((q) => (
          <Questions key={q.id} ask={q} />
        ))}
    </div>
  );
}
