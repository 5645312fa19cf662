// What a directory is equipped with, and what it may do: providers and their keys,
// servers, plugins, permissions, trust. Keys are sent to the server and never come back.

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { forget } from "./composer";
import { get, send } from "./http";
import { t } from "./i18n";
import { attempt, directories, directory, tell } from "./state";
import { stateWords } from "./states";
import { plain } from "./text";

/** Loads something again and again: when the directory changes, and when something was done. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows what the path answers
function useLoaded<T>(path: string, dir: string): { value: T | undefined; why: string; again: () => void } {
  const [value, setValue] = useState<T>();
  const [why, setWhy] = useState("");
  const [times, setTimes] = useState(0);
  useEffect(() => {
    let current = true;
    get<T>(path, { directory: dir }).then(
      (v) => {
        if (!current) return;
        setValue(v);
        setWhy("");
      },
      (err: unknown) => current && setWhy(err instanceof Error ? err.message : String(err)),
    );
    return () => {
      current = false;
    };
  }, [path, dir, times]);
  return { value, why, again: () => setTimes((n) => n + 1) };
}

function Section(props: { title: string; why: string; empty: boolean; loading: boolean; children: ComponentChildren }) {
  return (
    <section class="managed">
      <h2>{props.title}</h2>
      {props.why !== "" && <p class="quiet">{plain(props.why)}</p>}
      {props.loading && props.why === "" && <p class="quiet">{t("loading")}</p>}
      {props.empty && <p class="quiet">{t("none")}</p>}
      {props.children}
    </section>
  );
}

interface Credentials {
  stored: { provider: string; kind: string }[] | null;
  environment: { provider: string; name: string; variable: string }[] | null;
}

interface Provider {
  id: string;
  name: string;
  connected: boolean;
}

interface KeyTest {
  outcome: "accepted" | "refused" | "unknown";
  model: string;
  detail: string;
  hint: string;
}

/** Lets the directory's next turn use what was stored. */
async function renew(dir: string): Promise<void> {
  await attempt(send("POST", "/instance/dispose", undefined, { directory: dir }));
  forget(dir);
}

/** Tries a key before it is stored, and returns why that could not be done. Undefined: the
 * provider refused it, and it is not to be stored. */
async function tryKey(directory: string, provider: string, key: string): Promise<string | undefined> {
  try {
    const out = await send<KeyTest>("POST", `/lathe/provider/${encodeURIComponent(provider)}/test`, { key }, { directory });
    const why = reasons(out);
    if (out.outcome === "refused") return confirm(t("keyRefusedSure", { provider, why })) ? why : undefined;
    return out.outcome === "accepted" ? "" : why;
  } catch (err) {
    return err instanceof Error ? err.message : String(err);
  }
}

const reasons = (out: KeyTest): string => [out.detail, out.hint].filter(Boolean).join("; ");

function NewKey(props: { dir: string; list: Provider[]; done: () => void }) {
  const [id, setId] = useState("");
  const [key, setKey] = useState("");
  const [busy, setBusy] = useState(false);
  const store = async (provider: string) => {
    const why = await tryKey(props.dir, provider, key.trim());
    if (why === undefined) return;
    const done = await attempt(send("PUT", `/auth/${encodeURIComponent(provider)}`, { type: "api", key: key.trim() }, { check: "false" })); // it was tried
    if (done === undefined) return;
    setKey("");
    await renew(props.dir);
    tell(t(why === "" ? "keyStored" : "keyStoredUntried", { provider, why }), why !== "");
    props.done();
  };
  const save = async () => {
    setBusy(true);
    await store(id.trim());
    setBusy(false);
  };
  return (
    <form
      class="row"
      onSubmit={(e) => {
        e.preventDefault();
        void save();
      }}
    >
      <label>
        {t("provider")}{" "}
        <input list="providers" value={id} autocomplete="off" onInput={(e) => setId(e.currentTarget.value)} />
        <datalist id="providers">
          {props.list.map((p) => (
            <option key={p.id} value={p.id}>
              {p.name}
            </option>
          ))}
        </datalist>
      </label>
      <label>
        {t("key")} <input type="password" value={key} autocomplete="off" onInput={(e) => setKey(e.currentTarget.value)} />
      </label>
      <button type="submit" class="main" disabled={busy || id.trim() === "" || key.trim() === ""}>
        {t("keyStore")}
      </button>
    </form>
  );
}

function Providers(props: { dir: string }) {
  const stored = useLoaded<Credentials>("/lathe/auth", props.dir);
  const all = useLoaded<Provider[]>("/lathe/provider", props.dir);
  const again = () => {
    stored.again();
    all.again();
  };
  const connected = all.value?.filter((p) => p.connected) ?? [];
  const test = async (id: string) => {
    const out = await attempt(send<KeyTest>("POST", `/lathe/provider/${encodeURIComponent(id)}/test`, {}, { directory: props.dir }));
    if (out) tell(t(out.outcome === "accepted" ? "keyAccepted" : out.outcome === "refused" ? "keyRefused" : "keyUnknown", { model: out.model, why: reasons(out) }), out.outcome !== "accepted");
  };
  const remove = async (id: string) => {
    if (!confirm(t("keyRemoveSure", { provider: id }))) return;
    await attempt(send("DELETE", `/auth/${encodeURIComponent(id)}`));
    await renew(props.dir);
    again();
  };
  return (
    <Section title={t("providers")} why={all.why || stored.why} loading={!all.value} empty={all.value !== undefined && connected.length === 0}>
      <ul class="list">
        {connected.map((p) => {
          const kept = stored.value?.stored?.find((s) => s.provider === p.id);
          const variable = stored.value?.environment?.find((e) => e.provider === p.id);
          return (
            <li key={p.id}>
              <span class="grow0">{plain(p.name || p.id)}</span>
              <span class="quiet">{plain([kept?.kind, variable?.variable].filter(Boolean).join(", ") || t("connected"))}</span>
              <button type="button" onClick={() => void test(p.id)}>
                {t("keyTest")}
              </button>
              {kept && (
                <button type="button" class="danger" onClick={() => void remove(p.id)}>
                  {t("keyRemove")}
                </button>
              )}
            </li>
          );
        })}
      </ul>
      <NewKey dir={props.dir} list={all.value ?? []} done={again} />
    </Section>
  );
}

interface Server {
  name: string;
  where: string;
  remote: boolean;
  state: string;
  why?: string;
  login?: string;
  known: boolean;
  unconfined?: boolean;
  tools: number;
  resources: number;
  prompts: number;
  notes?: string[];
  changed?: string[];
}

function loginWords(state: string): string {
  return state === "authenticated" ? t("loggedIn") : state === "expired" ? t("loginEnded") : t("loggedOut");
}

function Mcp(props: { dir: string }) {
  const { value, why, again } = useLoaded<Server[]>("/lathe/mcp", props.dir);
  const act = async (name: string, what: string) => {
    await attempt(send("POST", `/mcp/${encodeURIComponent(name)}/${what}`, undefined, { directory: props.dir }));
    again();
  };
  const login = async (name: string) => {
    const l = await attempt(send<{ authorizationUrl: string; already?: boolean; listens: boolean }>("POST", `/lathe/mcp/${encodeURIComponent(name)}/login`, undefined, { directory: props.dir }));
    if (!l) return;
    if (!l.already && /^https?:/.test(l.authorizationUrl)) {
      window.open(l.authorizationUrl, "_blank", "noopener,noreferrer");
      if (l.listens) await attempt(send("POST", `/lathe/mcp/${encodeURIComponent(name)}/login/wait`, undefined, { directory: props.dir }));
      else {
        const code = prompt(t("loginCode"));
        if (code) await attempt(send("POST", `/mcp/${encodeURIComponent(name)}/auth/callback`, { code }, { directory: props.dir }));
      }
    }
    again();
  };
  return (
    <Section title={t("mcpServers")} why={why} loading={!value} empty={value?.length === 0}>
      <ul class="list">
        {value?.map((s) => (
          <li key={s.name}>
            <span class="grow0">
              {plain(s.name)} <span class="quiet mono">{plain(s.where)}</span>
            </span>
            <span class={s.state === "failed" ? "bad" : "quiet"}>
              {plain(stateWords(s.state))}
              {s.known ? ` · ${t("toolCount", { n: s.tools })}` : ""}
              {s.login ? ` · ${loginWords(s.login)}` : ""}
              {s.unconfined ? ` · ${t("unconfined")}` : ""}
            </span>
            {s.state === "disabled" || s.state === "failed" || s.state === "waiting" ? (
              <button type="button" onClick={() => void act(s.name, "connect")}>
                {t("connect")}
              </button>
            ) : (
              <button type="button" onClick={() => void act(s.name, "disconnect")}>
                {t("disconnect")}
              </button>
            )}
            {s.login !== undefined && (
              <button type="button" onClick={() => void login(s.name)}>
                {t("logIn")}
              </button>
            )}
            {s.why && <p class="bad small">{plain(s.why)}</p>}
            {s.changed && s.changed.length > 0 && (
              <p class="small">
                {t("toolsChanged", { tools: plain(s.changed.join(", ")) })}{" "}
                <button type="button" onClick={() => void attempt(send("POST", `/lathe/mcp/${encodeURIComponent(s.name)}/seen`, undefined, { directory: props.dir })).then(again)}>
                  {t("seen")}
                </button>
              </p>
            )}
            {s.notes?.map((n) => (
              <p key={n} class="quiet">
                {plain(n)}
              </p>
            ))}
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface Setup {
  lsp: { name: string; kind: string; state: string }[] | null;
  formatters: { name: string; state: string }[] | null;
  files: string[] | null;
  warnings: string[] | null;
  sandbox?: string;
  snapshots: string;
}

function Languages(props: { dir: string }) {
  const { value, why } = useLoaded<Setup>("/lathe/setup", props.dir);
  const list = [...(value?.lsp ?? []), ...(value?.formatters ?? [])];
  return (
    <Section title={t("languageServers")} why={why} loading={!value} empty={value !== undefined && list.length === 0}>
      <ul class="list">
        {list.map((l) => (
          <li key={l.name + l.state}>
            <span class="grow0">{plain(l.name)}</span> <span class="quiet">{plain(l.state)}</span>
          </li>
        ))}
      </ul>
      {value && (
        <p class="quiet">
          {plain([value.sandbox, value.snapshots].filter(Boolean).join(" · "))}
          {(value.files ?? []).length > 0 && ` · ${plain((value.files ?? []).join(", "))}`}
        </p>
      )}
      {value?.warnings?.map((w) => (
        <p key={w} class="bad">
          {plain(w)}
        </p>
      ))}
    </Section>
  );
}

interface Plugin {
  name: string;
  kind: string;
  spec: string;
  from?: string;
  repository?: boolean;
  hooks?: string[];
  tools?: string[];
  off?: boolean;
  error?: string;
}

function Plugins(props: { dir: string }) {
  const { value, why, again } = useLoaded<{ plugins: Plugin[]; problems?: string[] }>("/lathe/plugin", props.dir);
  const turn = async (p: Plugin) => {
    await attempt(send("POST", "/lathe/plugin", { do: p.off ? "on" : "off", spec: p.spec }, { directory: props.dir }));
    again();
  };
  return (
    <Section title={t("plugins")} why={why} loading={!value} empty={value?.plugins.length === 0}>
      <ul class="list">
        {value?.plugins.map((p) => (
          <li key={p.kind + p.spec + p.name}>
            <span class="grow0">
              {plain(p.name)} <span class="quiet">{plain([p.kind, ...(p.hooks ?? []), ...(p.tools ?? [])].join(", "))}</span>
            </span>
            <span class="quiet">{p.off ? t("off") : t("on")}</span>
            {p.kind !== "hook" && (
              <button type="button" onClick={() => void turn(p)}>
                {p.off ? t("turnOn") : t("turnOff")}
              </button>
            )}
            {p.error && <p class="bad small">{plain(p.error)}</p>}
          </li>
        ))}
      </ul>
      {value?.problems?.map((w) => (
        <p key={w} class="bad">
          {plain(w)}
        </p>
      ))}
    </Section>
  );
}

interface Approval {
  permission: string;
  pattern: string;
  stored: boolean;
}

function Approvals(props: { dir: string }) {
  const { value, why, again } = useLoaded<Approval[]>("/lathe/approval", props.dir);
  const revoke = async (a: Approval) => {
    await attempt(send("POST", "/lathe/approval/revoke", a, { directory: props.dir }));
    again();
  };
  return (
    <Section title={t("approvals")} why={why} loading={!value} empty={value?.length === 0}>
      <ul class="list">
        {value?.map((a) => (
          <li key={`${a.permission} ${a.pattern} ${String(a.stored)}`}>
            <span class="grow0">
              {plain(a.permission)} <span class="mono">{plain(a.pattern)}</span>
            </span>
            <span class="quiet">{a.stored ? t("forProject") : t("forProcess")}</span>
            <button type="button" class="danger" onClick={() => void revoke(a)}>
              {t("revoke")}
            </button>
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface Trust {
  dir: string;
  given: boolean;
  stored?: boolean;
  state: string;
  files: string[] | null;
  leftOut: { path: string; where: string; reason: string }[] | null;
  digest: string;
}

function Trusting(props: { dir: string }) {
  const { value: v, why, again } = useLoaded<Trust>("/lathe/trust", props.dir);
  const decide = async (keep: boolean) => {
    await attempt(send("POST", "/lathe/trust/decision", { digest: v?.digest, keep }, { directory: props.dir }));
    again();
  };
  const withdraw = async () => {
    await attempt(send("DELETE", "/lathe/trust/decision", undefined, { directory: props.dir }));
    again();
  };
  return (
    <Section title={t("trust")} why={why} loading={!v} empty={false}>
      {v && (
        <>
          <p>{plain(v.state)}</p>
          {(v.files ?? []).length > 0 && <p class="mono small">{plain((v.files ?? []).join("  "))}</p>}
          <ul class="small">
            {v.leftOut?.map((l, i) => (
              <li key={i}>
                <span class="mono">{plain(l.path)}</span> ({plain(l.where)}): {plain(l.reason)}
              </li>
            ))}
          </ul>
          <p class="buttons">
            {!v.given && (v.files ?? []).length > 0 && (
              <>
                <button type="button" onClick={() => void decide(true)}>
                  {t("trustKeep")}
                </button>
                <button type="button" onClick={() => void decide(false)}>
                  {t("trustNow")}
                </button>
              </>
            )}
            {v.given && (v.files ?? []).length > 0 && (
              <button type="button" class="danger" onClick={() => void withdraw()}>
                {t("trustWithdraw")}
              </button>
            )}
          </p>
        </>
      )}
    </Section>
  );
}

interface Check {
  name: string;
  ok: boolean;
  broken?: boolean;
  detail: string;
  hint?: string;
}

function Checks(props: { dir: string }) {
  const { value, why } = useLoaded<Check[]>("/lathe/check", props.dir);
  return (
    <Section title={t("checks")} why={why} loading={!value} empty={value?.length === 0}>
      <ul class="list">
        {value?.map((c) => (
          <li key={c.name}>
            <span class={c.ok ? "" : "bad"} aria-hidden="true">
              {c.ok ? "✓" : "!"}
            </span>
            <span class="grow0">
              {plain(c.name)}: <span class="quiet">{plain(c.detail)}</span>
              {!c.ok && c.hint && <span> {plain(c.hint)}</span>}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

export function Manage() {
  const [chosen, setChosen] = useState("");
  const dir = chosen || directory.value;
  if (dir === "") return <p class="quiet">{t("loading")}</p>;
  return (
    <>
      {directories.value.length > 1 && (
        <p>
          <label>
            {t("directory")}{" "}
            <select value={dir} onChange={(e) => setChosen(e.currentTarget.value)}>
              {directories.value.map((d) => (
                <option key={d} value={d}>
                  {d}
                </option>
              ))}
            </select>
          </label>
        </p>
      )}
      <Providers dir={dir} />
      <Mcp dir={dir} />
      <Languages dir={dir} />
      <Plugins dir={dir} />
      <Approvals dir={dir} />
      <Trusting dir={dir} />
      <Checks dir={dir} />
    </>
  );
}
