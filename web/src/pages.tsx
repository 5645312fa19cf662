// What is not a conversation: logging in, costs, settings.

import { useEffect, useState } from "preact/hooks";
import { address, get, Refused, send } from "./http";
import { languages, money, number, t, tag } from "./i18n";
import { lazy } from "./lazy";
import { notify, wishToTell } from "./notify";
import { attempt, feed, language, locked, sessions, theme, type Theme } from "./state";
import { base, plain } from "./text";
import type { Stats, Tally } from "./wire";

export function Login() {
  const [password, setPassword] = useState("");
  const [why, setWhy] = useState("");
  const [issuer, setIssuer] = useState("");
  useEffect(() => {
    get<{ oidc?: string }>("/lathe/login").then((s) => setIssuer(s.oidc ?? ""), () => undefined);
  }, []);
  const submit = async () => {
    try {
      await send("POST", "/lathe/login", { password });
      setPassword("");
      setWhy("");
      locked.value = false;
      feed.start();
    } catch (err) {
      setWhy(err instanceof Refused && err.status === 429 ? t("tooOften") : err instanceof Refused && err.status === 401 ? t("wrong") : String(err));
    }
  };
  return (
    <main class="login">
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void submit();
        }}
      >
        <h1>lathe</h1>
        <p>{t("logInWhy")}</p>
        <input type="text" name="username" autocomplete="username" value="opencode" readOnly class="hidden" aria-hidden="true" tabIndex={-1} />
        <label>
          {t("password")}
          <input type="password" autocomplete="current-password" autofocus value={password} onInput={(e) => setPassword(e.currentTarget.value)} />
        </label>
        {why !== "" && (
          <p class="bad" role="alert">
            {why}
          </p>
        )}
        <button type="submit" class="main" disabled={password === ""}>
          {t("logIn")}
        </button>
        {issuer !== "" && (
          <a class="button" href={address(issuer)}>
            {t("logInIssuer")}
          </a>
        )}
      </form>
    </main>
  );
}

function sum(t: Tally): number {
  return t.tokens.input + t.tokens.output + t.tokens.reasoning + t.tokens.cache.read + t.tokens.cache.write;
}

/** A bar chart that a screen reader reads as the table it is. */
function Bars(props: { title: string; rows: [string, Tally][]; name?: (key: string) => string }) {
  const most = Math.max(...props.rows.map(([, v]) => v.cost), 0);
  const tokens = Math.max(...props.rows.map(([, v]) => sum(v)), 1);
  if (props.rows.length === 0) return null;
  return (
    <section>
      <h2>{props.title}</h2>
      <table class="bars">
        <thead>
          <tr>
            <th scope="col">{props.title}</th>
            <th scope="col">{t("cost")}</th>
            <th scope="col">{t("tokens")}</th>
            <td class="barcell" />
          </tr>
        </thead>
        <tbody>
          {props.rows.map(([key, v]) => (
            <tr key={key}>
              <th scope="row" title={key}>
                {plain(props.name ? props.name(key) : key)}
              </th>
              <td>{money(v.cost)}</td>
              <td>{number(sum(v))}</td>
              <td class="barcell" aria-hidden="true">
                <meter min={0} max={1} value={most > 0 ? v.cost / most : sum(v) / tokens} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface Budget {
  for: string;
  limit: string;
  used: string;
  allowed: string;
  percent: number;
}

/** What of the configured budgets is used, as the session that was used last sees it. */
function Budgets() {
  const [list, setList] = useState<Budget[]>([]);
  const newest = [...sessions.value.values()].sort((a, b) => b.time.updated - a.time.updated)[0]?.id;
  useEffect(() => {
    if (newest !== undefined) get<{ budget?: Budget[] }>(`/lathe/session/${newest}/weight`).then((w) => setList(w.budget ?? []), () => undefined);
  }, [newest]);
  if (list.length === 0) return null;
  return (
    <section>
      <h2>{t("budget")}</h2>
      {list.map((b, i) => (
        <p key={i}>
          {plain(b.for)}, {plain(b.limit)}: {plain(b.used)} / {plain(b.allowed)} <meter class="budget" min={0} max={100} high={80} value={Math.min(100, b.percent)} aria-label={plain(b.for)} />
        </p>
      ))}
    </section>
  );
}

export function Costs() {
  const [stats, setStats] = useState<Stats>();
  const [why, setWhy] = useState("");
  useEffect(() => {
    get<Stats>("/lathe/stats").then(setStats, (err: unknown) => setWhy(err instanceof Error ? err.message : String(err)));
  }, []);
  const byCost = (m: Record<string, Tally>) => Object.entries(m).sort(([, a], [, b]) => b.cost - a.cost || sum(b) - sum(a)).slice(0, 30);
  return (
    <main class="page" tabIndex={0}>
      <h1>{t("costs")}</h1>
      {why !== "" && <p class="bad">{plain(why)}</p>}
      {!stats && why === "" && <p class="quiet">{t("loading")}</p>}
      {stats && (
        <>
          <p class="big">
            {money(stats.total.cost)} <span class="quiet">{t("tokens")}: {number(sum(stats.total))} · {t("sessions")}: {number(stats.sessions)}</span>
          </p>
          <CostChart days={stats.days} sum={sum} say={(n) => `${t("tokens")}: ${number(n)}`} />
          <Budgets />
          <Bars title={t("day")} rows={Object.entries(stats.days).sort(([a], [b]) => b.localeCompare(a)).slice(0, 30)} />
          <Bars title={t("model")} rows={byCost(stats.models)} />
          <Bars title={t("projects")} rows={byCost(stats.projects)} name={base} />
        </>
      )}
    </main>
  );
}

const themes: [Theme, "themeSystem" | "themeLight" | "themeDark" | "themeContrast"][] = [
  ["system", "themeSystem"],
  ["light", "themeLight"],
  ["dark", "themeDark"],
  ["contrast", "themeContrast"],
];

const Manage = lazy(() => import("./manage").then((m) => m.Manage));
const CostChart = lazy(() => import("./chart").then((m) => m.CostChart));

export function Settings() {
  const [asked, setAsked] = useState(false);
  useEffect(() => {
    get<{ asked: boolean }>("/lathe/login").then((s) => setAsked(s.asked), () => undefined);
  }, []);
  const logOut = async () => {
    await attempt(send("DELETE", "/lathe/login"));
    location.reload(); // nothing that was shown stays in memory
  };
  return (
    <main class="page" tabIndex={0}>
      <h1>{t("settings")}</h1>
      <p>
        <label>
          {t("theme")}{" "}
          <select value={theme.value} onChange={(e) => (theme.value = e.currentTarget.value as Theme)}>
            {themes.map(([value, name]) => (
              <option key={value} value={value}>
                {t(name)}
              </option>
            ))}
          </select>
        </label>
      </p>
      <p>
        <label>
          {t("language")}{" "}
          <select value={tag.value} onChange={(e) => (language.value = e.currentTarget.value)}>
            {Object.entries(languages).map(([value, l]) => (
              <option key={value} value={value} lang={value}>
                {l.name}
              </option>
            ))}
          </select>
        </label>
      </p>
      <p>
        <label>
          <input type="checkbox" checked={notify.value} onChange={(e) => void wishToTell(e.currentTarget.checked)} /> {t("notify")}
        </label>
      </p>
      <Manage />
      {asked && (
        <p>
          <button type="button" onClick={() => void logOut()}>
            {t("logOut")}
          </button>
        </p>
      )}
    </main>
  );
}
