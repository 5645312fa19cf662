// Diffs, with the words of changed lines marked.

import { diffWordsWithSpace, parsePatch } from "diff";
import { useMemo, useState } from "preact/hooks";
import { t } from "./i18n";
import { plain } from "./text";

interface Line {
  kind: "add" | "del" | "same" | "gap";
  old?: number;
  new?: number;
  pieces: { text: string; marked: boolean }[];
}

const most = 400;

/** The lines of a unified diff of one or more files. */
export function lines(patch: string): Line[] {
  const out: Line[] = [];
  for (const file of parsePatch(patch)) {
    for (const h of file.hunks) {
      if (out.length > 0 || h.oldStart > 1) out.push({ kind: "gap", pieces: [{ text: `@@ ${h.newStart} @@`, marked: false }] });
      let before = h.oldStart;
      let after = h.newStart;
      let removed: Line[] = [];
      let added: Line[] = [];
      const flush = () => {
        if (removed.length === added.length) removed.forEach((r, i) => mark(r, added[i]));
        out.push(...removed, ...added);
        removed = [];
        added = [];
      };
      for (const raw of h.lines) {
        const pieces = [{ text: plain(raw.slice(1)), marked: false }];
        if (raw.startsWith("-")) {
          if (added.length > 0) flush();
          removed.push({ kind: "del", old: before++, pieces });
        } else if (raw.startsWith("+")) added.push({ kind: "add", new: after++, pieces });
        else if (raw.startsWith(" ")) {
          flush();
          out.push({ kind: "same", old: before++, new: after++, pieces });
        }
      }
      flush();
    }
  }
  return out;
}

/** Marks what differs between two lines, unless that is nearly everything. */
function mark(del: Line, add: Line | undefined): void {
  const a = del.pieces[0]?.text ?? "";
  const b = add?.pieces[0]?.text ?? "";
  if (!add || a.length + b.length > 2_000) return;
  const words = diffWordsWithSpace(a, b);
  const same = words.reduce((n, w) => n + (w.added || w.removed ? 0 : w.value.trim().length), 0);
  if (same * 3 < Math.max(a.trim().length, b.trim().length)) return;
  del.pieces = words.filter((w) => !w.added).map((w) => ({ text: w.value, marked: w.removed }));
  add.pieces = words.filter((w) => !w.removed).map((w) => ({ text: w.value, marked: w.added }));
}

export function Diff(props: { patch: string; label: string }) {
  const [all, setAll] = useState(false);
  const made = useMemo(() => {
    try {
      return lines(props.patch);
    } catch {
      return undefined; // it is no diff that can be read
    }
  }, [props.patch]);
  if (!made) return <pre class="code">{plain(props.patch)}</pre>;
  const shown = all ? made : made.slice(0, most);
  return (
    <div class="diff" role="figure" aria-label={props.label}>
      <table>
        <tbody>
          {shown.map((l, i) => (
            <tr key={i} class={l.kind}>
              <td class="no">{l.old}</td>
              <td class="no">{l.new}</td>
              <td class="sign">{l.kind === "add" ? "+" : l.kind === "del" ? "−" : ""}</td>
              <td class="line">{l.pieces.map((p, k) => (p.marked ? <mark key={k}>{p.text}</mark> : p.text))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {made.length > shown.length && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          {t("more")} ({made.length - shown.length})
        </button>
      )}
    </div>
  );
}
