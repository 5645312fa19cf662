// Looking at a session that somebody shared. Nothing of it is stored or sent anywhere.

import { useMemo, useState } from "preact/hooks";
import { Change } from "./changes";
import { Messages } from "./chat";
import { Conversation } from "./conversation";
import { send } from "./http";
import { money, t } from "./i18n";
import { useScroll } from "./scroll";
import { Kept, read, type Shared } from "./shared";
import { tell } from "./state";
import { base, plain } from "./text";

/** So much of a file is read at most. */
const most = 256 << 20;

function Reading(props: { shared: Shared; close: () => void }) {
  const { session, diffs } = props.shared;
  const [changes, setChanges] = useState(false);
  const c = useMemo(() => {
    const c = new Conversation(session.id, new Kept(props.shared));
    void c.load();
    return c;
  }, [props.shared]);
  const scroll = useScroll(c, !(c.loading.value && c.entries.value.length === 0));
  return (
    <main class={changes ? "chat paneled shared" : "chat shared"} aria-label={plain(session.title)}>
      <header class="bar">
        <div class="titles">
          <h2>{plain(session.title) || t("untitled")}</h2>
          <span class="quiet">
            {t("sharedReadOnly")}
            {session.directory === "" ? "" : ` · ${plain(base(session.directory))}`}
            {session.cost ? ` · ${money(session.cost)}` : ""}
          </span>
        </div>
        {diffs.length > 0 && (
          <button type="button" aria-pressed={changes} onClick={() => setChanges(!changes)}>
            {t("changed")} ({diffs.length})
          </button>
        )}
        <button type="button" onClick={props.close}>
          {t("close")}
        </button>
      </header>
      <div class="talk">
        <div class="scroll" ref={scroll.box} onScroll={scroll.onScroll} onKeyDown={scroll.onKeyDown} tabIndex={0} role="region" aria-label={t("messages")}>
          <Messages c={c} session={session} marked="" acts={undefined} />
        </div>
        {(scroll.away || c.newer.value) && (
          <button type="button" class="jump low" onClick={() => void scroll.end()}>
            {t("jump")} ↓
          </button>
        )}
      </div>
      {changes && (
        <aside class="side" aria-label={t("beside")}>
          <section class="panel" aria-label={t("changed")}>
            {diffs.map((f) => (
              <Change key={f.file} file={f} dir={session.directory} />
            ))}
          </section>
        </aside>
      )}
    </main>
  );
}

export function SharedView() {
  const [shared, setShared] = useState<Shared>();
  const [address, setAddress] = useState("");
  const [busy, setBusy] = useState(false);
  const open = async (load: () => Promise<unknown>) => {
    setBusy(true);
    try {
      const made = read(await load());
      if (made) setShared(made);
      else tell(t("sharedNone"), true);
    } catch (err) {
      tell(err instanceof SyntaxError ? t("sharedNone") : err instanceof Error ? err.message : String(err), true);
    }
    setBusy(false);
  };
  const take = (f: File | undefined) => {
    if (!f) return;
    if (f.size > most) tell(t("sharedNone"), true);
    else void open(async () => JSON.parse(await f.text()) as unknown);
  };
  if (shared) return <Reading shared={shared} close={() => setShared(undefined)} />;
  return (
    <main
      class="page"
      tabIndex={0}
      onDragOver={(e) => e.preventDefault()}
      onDrop={(e) => {
        e.preventDefault();
        take(e.dataTransfer?.files[0]);
      }}
    >
      <h1>{t("shared")}</h1>
      <p class="reading">{t("sharedAbout")}</p>
      <form
        class="managed"
        onSubmit={(e) => {
          e.preventDefault();
          void open(() => send("POST", "/lathe/shared", { url: address.trim() }));
        }}
      >
        <label class="field">
          {t("sharedLink")} <input type="url" inputMode="url" value={address} placeholder="https://" onInput={(e) => setAddress(e.currentTarget.value)} />
        </label>
        <p class="row">
          <button type="submit" class="main" disabled={busy || address.trim() === ""}>
            {t("sharedOpen")}
          </button>
          <label class="button">
            {t("sharedFile")}
            <input
              type="file"
              accept=".json,application/json"
              class="hidden"
              onChange={(e) => {
                take(e.currentTarget.files?.[0]);
                e.currentTarget.value = "";
              }}
            />
          </label>
          {busy && <span class="quiet">{t("loading")}</span>}
        </p>
      </form>
    </main>
  );
}
