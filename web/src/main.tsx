import { effect } from "@preact/signals";
import { render } from "preact";
import { useState } from "preact/hooks";
import { Chat } from "./chat";
import { ago, t, tag } from "./i18n";
import { lazy } from "./lazy";
import { watch } from "./notify";
import { Costs, Login, Settings } from "./pages";
import { listen, place, toSession } from "./route";
import { Sidebar } from "./sidebar";
import { attempt, asks, create, directory, link, locked, questions, ready, sessions, start, theme, toasts } from "./state";
import { base, plain } from "./text";

const SharedView = lazy(() => import("./sharedview").then((m) => m.SharedView));

function Start() {
  const recent = [...sessions.value.values()].filter((s) => s.parentID === undefined).sort((a, b) => b.time.updated - a.time.updated).slice(0, 6);
  return (
    <main class="page start" tabIndex={0}>
      <h1>lathe</h1>
      <p>{t("about")}</p>
      <p>
        <button type="button" class="main" disabled={!ready.value} onClick={() => void attempt(create(directory.value)).then((s) => s && (location.hash = toSession(s.id)))}>
          {t("newSession")}
        </button>{" "}
        <span class="quiet mono">{plain(directory.value)}</span>
      </p>
      <ul class="recent">
        {recent.map((s) => (
          <li key={s.id}>
            <a href={toSession(s.id)}>{plain(s.title) || t("untitled")}</a>{" "}
            <span class="quiet">
              {plain(base(s.directory))} · {ago(s.time.updated)}
            </span>
          </li>
        ))}
      </ul>
      <p>
        <a href="#/shared">{t("shared")}</a>
      </p>
    </main>
  );
}

function Middle() {
  const p = place.value;
  switch (p.kind) {
    case "start":
      return <Start />;
    case "costs":
      return <Costs />;
    case "settings":
      return <Settings />;
    case "shared":
      return <SharedView />;
  }
  return (
    <div class="beside">
      {p.ids.map((id) => (
        <Chat key={id} id={id} message={p.message} alone={p.ids.length === 1} />
      ))}
    </div>
  );
}

function App() {
  const [menu, setMenu] = useState(false);
  if (locked.value) return <Login />;
  const waiting = asks.value.length + questions.value.length;
  const first = asks.value[0]?.sessionID ?? questions.value[0]?.sessionID;
  return (
    <div class={menu ? "app menu" : "app"} onClick={(e) => (e.target as HTMLElement).closest("nav a") && setMenu(false)}>
      <a class="skip" href="#app" onClick={(e) => { e.preventDefault(); document.querySelector<HTMLElement>("main .scroll, main")?.focus(); }}>
        {t("skip")}
      </a>
      <header class="top">
        <button type="button" class="burger" aria-expanded={menu} aria-label={t("menu")} onClick={() => setMenu(!menu)}>
          ☰
        </button>
        <a class="brand" href="#/">
          lathe
        </a>
        {first !== undefined && (
          <a class="waitingfor" href={toSession(first)}>
            {t("asks", { n: waiting })}
          </a>
        )}
        <span class="space" />
        {link.value === "lost" && ready.value && (
          <span class="bad" role="status">
            {t("lost")}
          </span>
        )}
        <a href="#/costs">{t("costs")}</a>
        <a href="#/settings">{t("settings")}</a>
      </header>
      <Sidebar />
      <Middle />
      <div class="toasts" role="status" aria-live="polite">
        {toasts.value.map((toast) => (
          <p key={toast.id} class={toast.bad ? "bad" : ""}>
            {plain(toast.text)}
          </p>
        ))}
      </div>
    </div>
  );
}

listen();
effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
});
effect(() => {
  document.documentElement.lang = tag.value;
});
watch();
const app = document.getElementById("app");
if (app) render(<App />, app);
void start();
