// What fills the window of a session, what came from the provider's cache, what a
// compaction kept.

import { useEffect, useState } from "preact/hooks";
import type { Conversation } from "./conversation";
import { get, send } from "./http";
import { number, t } from "./i18n";
import { textOf } from "./message";
import { attempt, statuses } from "./state";
import { plain } from "./text";

interface Portion {
  name: string;
  part?: string;
  count: number;
  tokens: number;
}

interface CacheStep {
  expected: number;
  read: number;
  fresh?: number;
  differs?: string;
  reason?: string;
}

interface Weight {
  model: string;
  used: number;
  window: number;
  usable: number;
  fresh: string;
  cached: string;
  kinds: Portion[] | null;
  parts: Portion[] | null;
  byModel: { model: string; answers: number; sent: number; cached: number; answered: number; cost: string }[] | null;
  budget?: { for: string; limit: string; used: string; allowed: string; percent: number }[];
  unpriced?: boolean;
  compactions: number;
  prunes: number;
  read: number;
  written: number;
  sent: number;
  stats: { pruned?: number; cache: { expected?: number; read?: number; announced?: number; ours?: number; theirs?: number; steps?: CacheStep[] } };
}

function Portions(props: { title: string; list: Portion[]; all: number }) {
  if (props.list.length === 0) return null;
  return (
    <table class="bars">
      <caption>{props.title}</caption>
      <tbody>
        {props.list.map((p, i) => (
          <tr key={i}>
            <th scope="row">
              {plain(p.name)}
              {p.count > 1 ? ` × ${p.count}` : ""}
            </th>
            <td>{number(p.tokens)}</td>
            <td class="barcell" aria-hidden="true">
              <meter min={0} max={1} value={p.tokens / Math.max(props.all, 1)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cache(props: { w: Weight }) {
  const { w } = props;
  const { expected = 0, read = 0, steps = [] } = w.stats.cache;
  const all = w.read + w.written + w.sent;
  return (
    <>
      <h3>{t("cacheHits")}</h3>
      <p>
        {all > 0 ? t("cacheRead", { percent: Math.round((w.read / all) * 100), read: number(w.read), all: number(all) }) : t("cacheNone")}
        {expected > 0 && ` ${t("cacheExpected", { percent: Math.min(100, Math.round((read / expected) * 100)) })}`}
      </p>
      {steps.some((s) => s.differs) && (
        <ul class="small">
          {steps
            .filter((s) => s.differs)
            .slice(-8)
            .map((s, i) => (
              <li key={i}>{t("cacheBroke", { what: plain(s.differs ?? ""), why: plain(s.reason ?? "") })}</li>
            ))}
        </ul>
      )}
    </>
  );
}

/** The summaries that compactions left, among the messages that are loaded. */
function Kept(props: { c: Conversation; show: (message: string) => void }) {
  const list = props.c.entries.value.filter((e) => e.info.value.role === "assistant" && "summary" in e.info.value && e.info.value.summary);
  if (list.length === 0) return null;
  return (
    <>
      <h3>{t("compactionKept")}</h3>
      {list.map((e) => (
        <details key={e.id}>
          <summary>{plain(textOf(e)).slice(0, 120)}</summary>
          <div class="said small">{plain(textOf(e))}</div>
          <button type="button" onClick={() => props.show(e.id)}>
            {t("showMessage")}
          </button>
        </details>
      ))}
    </>
  );
}

export function Context(props: { id: string; c: Conversation; show: (message: string) => void }) {
  const [w, setW] = useState<Weight>();
  const busy = statuses.value.has(props.id);
  useEffect(() => {
    void attempt(get<Weight>(`/lathe/session/${props.id}/weight`)).then(setW);
  }, [props.id, busy]);
  if (!w) return <p class="quiet panel">{t("loading")}</p>;
  const share = w.window > 0 ? w.used / w.window : 0;
  return (
    <section class="panel" aria-label={t("context")}>
      <h3>{plain(w.model)}</h3>
      <p>
        {w.window > 0 ? t("windowUsed", { used: number(w.used), all: number(w.window), percent: Math.round(share * 100) }) : t("windowUnknown", { used: number(w.used) })}
        {w.usable > 0 && ` ${t("windowCompacts", { at: number(w.usable) })}`}
      </p>
      {w.window > 0 && <meter min={0} max={1} high={0.8} value={share} aria-label={t("context")} />}
      <p class="quiet">{t("windowCost", { fresh: plain(w.fresh), cached: plain(w.cached) })}</p>
      <Portions title={t("fills")} list={w.kinds ?? []} all={w.used} />
      <details>
        <summary>{t("largest")}</summary>
        <Portions title={t("largest")} list={w.parts ?? []} all={w.used} />
      </details>
      <Cache w={w} />
      <h3>{t("compactions")}</h3>
      <p>{t("compactionCount", { n: w.compactions, prunes: w.prunes, freed: number(w.stats.pruned ?? 0) })}</p>
      <p>
        <button type="button" disabled={busy} onClick={() => void compact(props.id, w.model)}>
          {t("compactNow")}
        </button>
      </p>
      <Kept c={props.c} show={props.show} />
      {w.budget && w.budget.length > 0 && <h3>{t("budget")}</h3>}
      {w.budget?.map((b, i) => (
        <p key={i}>
          <meter min={0} max={100} high={80} value={Math.min(100, b.percent)} aria-label={plain(b.limit)} /> {plain(b.limit)}: {plain(b.used)} / {plain(b.allowed)} ({plain(b.for)})
        </p>
      ))}
      <ByModel w={w} />
    </section>
  );
}

function ByModel(props: { w: Weight }) {
  const list = props.w.byModel ?? [];
  if (list.length === 0) return null;
  return (
    <table class="bars">
      <caption>{t("costs")}</caption>
      <tbody>
        {list.map((m) => (
          <tr key={m.model}>
            <th scope="row">{plain(m.model)}</th>
            <td>
              {number(m.sent)} → {number(m.answered)}
            </td>
            <td>{plain(m.cost)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

async function compact(id: string, model: string): Promise<void> {
  const [providerID, ...rest] = model.split("/");
  await attempt(send("POST", `/session/${id}/summarize`, { providerID, modelID: rest.join("/") }));
}

