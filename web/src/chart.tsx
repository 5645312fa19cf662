// A chart of what each day cost. A screen reader has the table below it instead.

import { money, t, tag } from "./i18n";
import type { Tally } from "./wire";

const days = 30;
const height = 120;

/** The last days up to today, those without an answer too. */
export function range(tallies: Record<string, Tally>, today: Date, count = days): { day: string; tally: Tally | undefined }[] {
  const out: { day: string; tally: Tally | undefined }[] = [];
  for (let n = count - 1; n >= 0; n--) {
    const d = new Date(today.getFullYear(), today.getMonth(), today.getDate() - n);
    const day = `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, "0")}-${String(d.getDate()).padStart(2, "0")}`;
    out.push({ day, tally: tallies[day] });
  }
  return out;
}

export function DayChart(props: { days: Record<string, Tally>; weigh: (t: Tally) => number; say: (n: number) => string }) {
  const list = range(props.days, new Date());
  const values = list.map((d) => (d.tally ? props.weigh(d.tally) : 0));
  const most = Math.max(...values, 0);
  if (most === 0) return null;
  const short = new Intl.DateTimeFormat(tag.value, { day: "numeric", month: "short" });
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${days * 20} ${height + 22}`} role="img" aria-label={t("chartOf", { most: props.say(most) })}>
        <line x1="0" x2={days * 20} y1={height} y2={height} class="axis" />
        {list.map((d, i) => {
          const h = ((values[i] ?? 0) / most) * (height - 14);
          return (
            <g key={d.day}>
              <rect x={i * 20 + 3} width="14" y={height - h} height={h} rx="2">
                <title>{`${d.day}: ${props.say(values[i] ?? 0)}`}</title>
              </rect>
              {i % 7 === 1 && (
                <text x={i > days - 3 ? i * 20 + 20 : i * 20 + 10} y={height + 16} text-anchor={i > days - 3 ? "end" : "middle"}>
                  {short.format(new Date(d.day + "T12:00:00"))}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <figcaption class="quiet">{t("chartOf", { most: props.say(most) })}</figcaption>
    </figure>
  );
}

export function CostChart(props: { days: Record<string, Tally>; sum: (t: Tally) => number; say: (n: number) => string }) {
  const priced = Object.values(props.days).some((d) => d.cost > 0);
  return priced ? <DayChart days={props.days} weigh={(d) => d.cost} say={money} /> : <DayChart days={props.days} weigh={props.sum} say={props.say} />;
}
