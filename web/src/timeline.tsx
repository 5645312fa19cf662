// The prompts of a session, what each of them changed, and going back to before one.

import { useEffect, useState } from "preact/hooks";
import { Changes } from "./changes";
import { get, send } from "./http";
import { ago, t } from "./i18n";
import { attempt, sessions, statuses } from "./state";
import { plain, within } from "./text";
import { revert, unrevert } from "./undo";
import type { Session } from "./wire";

interface Prompted {
  messageID: string;
  seq: number;
  created: number;
  text: string;
  steps: number;
  files: string[];
}

interface Page {
  prompts: Prompted[];
  more: boolean;
}

interface Preview {
  changed?: string[];
  kept?: { path: string; reason: string }[];
  unrecorded?: string;
}

/** What undoing would do, and the way to do it. */
function Before(props: { session: Session; message: string; close: () => void }) {
  const { session, message } = props;
  const [preview, setPreview] = useState<Preview>();
  const [force, setForce] = useState(false);
  useEffect(() => {
    void attempt(send<Preview>("POST", `/lathe/session/${session.id}/revert/preview`, { messageID: message })).then((p) => (p ? setPreview(p) : props.close()));
  }, [session.id, message]);
  if (!preview) return <p class="quiet">{t("loading")}</p>;
  const name = (path: string) => plain(within(path, session.directory));
  return (
    <div class="preview">
      <p>{preview.changed?.length ? t("undoChanges", { n: preview.changed.length }) : t("undoNothing")}</p>
      <ul class="mono small">
        {preview.changed?.map((f) => (
          <li key={f}>{name(f)}</li>
        ))}
      </ul>
      {preview.unrecorded && <p class="bad">{plain(preview.unrecorded)}</p>}
      {preview.kept && preview.kept.length > 0 && (
        <>
          <p class="bad">{t("undoKeeps")}</p>
          <ul class="small">
            {preview.kept.map((k) => (
              <li key={k.path}>
                <span class="mono">{name(k.path)}</span>: {plain(k.reason)}
              </li>
            ))}
          </ul>
          <label>
            <input type="checkbox" checked={force} onChange={(e) => setForce(e.currentTarget.checked)} /> {t("undoForce")}
          </label>
        </>
      )}
      <p class="buttons">
        <button type="button" class="danger" onClick={() => void revert(session.id, message, force).then((done) => done && props.close())}>
          {t("undoNow")}
        </button>
        <button type="button" onClick={props.close}>
          {t("cancel")}
        </button>
      </p>
    </div>
  );
}

function Step(props: { prompt: Prompted; session: Session; gone: boolean; show: (id: string) => void }) {
  const { prompt: p, session } = props;
  const [open, setOpen] = useState<"" | "changes" | "undo">("");
  return (
    <li class={props.gone ? "gone" : ""}>
      <button type="button" class="link" onClick={() => props.show(p.messageID)}>
        {plain(p.text).slice(0, 160) || "…"}
      </button>
      <p class="quiet">
        {ago(p.created)} · {t("steps", { n: p.steps })}
        {p.files.length > 0 && ` · ${t("edited", { n: p.files.length })}`}
      </p>
      {p.files.length > 0 && <p class="mono small">{p.files.slice(0, 8).map((f) => plain(within(f, session.directory))).join("  ")}</p>}
      <p class="buttons small">
        {p.files.length > 0 && (
          <button type="button" aria-expanded={open === "changes"} onClick={() => setOpen(open === "changes" ? "" : "changes")}>
            {t("changed")}
          </button>
        )}
        <button type="button" aria-expanded={open === "undo"} onClick={() => setOpen(open === "undo" ? "" : "undo")}>
          {t("revertHere")}…
        </button>
      </p>
      {open === "changes" && <Changes id={session.id} dir={session.directory} message={p.messageID} />}
      {open === "undo" && <Before session={session} message={p.messageID} close={() => setOpen("")} />}
    </li>
  );
}

export function Timeline(props: { session: Session; show: (id: string) => void }) {
  const { session } = props;
  const [pages, setPages] = useState<Page>();
  const busy = statuses.value.has(session.id);
  const updated = sessions.value.get(session.id)?.time.updated;
  const load = async (before: number) => {
    const p = await attempt(get<Page>(`/lathe/session/${session.id}/timeline`, before > 0 ? { before } : {}));
    if (p) setPages((old) => ({ prompts: [...p.prompts, ...(before > 0 ? (old?.prompts ?? []) : [])], more: p.more }));
  };
  useEffect(() => void load(0), [session.id, busy, updated]);
  const first = pages?.prompts[0];
  const reverted = session.revert?.messageID;
  return (
    <section class="panel" aria-label={t("timeline")}>
      {!pages && <p class="quiet">{t("loading")}</p>}
      {pages?.more && first && (
        <button type="button" class="quiet" onClick={() => void load(first.seq)}>
          {t("older")}
        </button>
      )}
      <ol class="timeline">
        {pages?.prompts.map((p) => (
          <Step key={p.messageID} prompt={p} session={session} gone={reverted !== undefined && p.messageID >= reverted} show={props.show} />
        ))}
      </ol>
      {pages?.prompts.length === 0 && <p class="quiet">{t("empty")}</p>}
      {reverted !== undefined && (
        <button type="button" onClick={() => void unrevert(session.id)}>
          {t("redo")}
        </button>
      )}
    </section>
  );
}
