// Colours of what commands print. Everything else that a terminal would obey is left out.

export interface Span {
  text: string;
  style: string; // class names
}

const codes: Record<number, string> = { 1: "b", 2: "dim", 3: "i", 4: "u", 9: "s" };
const colours = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** So many spans are made of one text; the rest of it is plain. */
const most = 20_000;

interface Look {
  marks: Set<string>;
  colour: string;
}

/** Divides a text at its colour sequences. */
export function spans(text: string): Span[] {
  const out: Span[] = [];
  const look: Look = { marks: new Set(), colour: "" };
  // CSI sequences; OSC, DCS, APC, PM and SOS strings; other escapes; single controls.
  const control = /\u001b\[([0-9;:<=>?]*)[ -/]*([@-~])|\u001b[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\u001b[ -/]*[0-~]?|\u009b[0-9;?]*[@-~]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
  let at = 0;
  const put = (piece: string) => {
    if (piece === "") return;
    const style = [...look.marks, look.colour].filter(Boolean).join(" ");
    const last = out[out.length - 1];
    if (last && (last.style === style || out.length >= most)) last.text += piece;
    else out.push({ text: piece, style });
  };
  for (let m = control.exec(text); m; m = control.exec(text)) {
    put(text.slice(at, m.index));
    at = m.index + m[0].length;
    if (m[2] === "m") change(look, m[1] ?? "");
  }
  put(text.slice(at));
  return out;
}

function change(look: Look, list: string): void {
  const numbers = list.split(/[;:]/).map((n) => (n === "" ? 0 : Number(n)));
  for (let i = 0; i < numbers.length; i++) {
    const n = numbers[i] ?? 0;
    const mark = codes[n];
    if (n === 0) {
      look.marks.clear();
      look.colour = "";
    } else if (mark) look.marks.add(mark);
    else if (n === 22) ["b", "dim"].forEach((m) => look.marks.delete(m));
    else if (n === 23) look.marks.delete("i");
    else if (n === 24) look.marks.delete("u");
    else if (n === 29) look.marks.delete("s");
    else if (n >= 30 && n <= 37) look.colour = "c-" + (colours[n - 30] ?? "");
    else if (n >= 90 && n <= 97) look.colour = "c-" + (colours[n - 90] ?? "");
    else if (n === 39) look.colour = "";
    else if (n === 38 || n === 48) {
      const kind = numbers[i + 1];
      if (n === 38 && kind === 5) look.colour = basic(numbers[i + 2] ?? 0);
      i += kind === 5 ? 2 : kind === 2 ? 4 : 0;
    }
  }
}

/** The nearest of the eight colours to one of 256. */
function basic(n: number): string {
  if (n < 16) return "c-" + (colours[n % 8] ?? "");
  if (n >= 232) return "dim";
  const v = n - 16;
  const rgb = [Math.floor(v / 36), Math.floor(v / 6) % 6, v % 6].map((c) => (c >= 3 ? 1 : 0));
  return "c-" + (colours[(rgb[0] ?? 0) + 2 * (rgb[1] ?? 0) + 4 * (rgb[2] ?? 0)] ?? "");
}

/** Keeps of each line what stood there last, as a terminal would. */
export function collapse(text: string): string {
  if (!text.includes("\r")) return text;
  return text
    .replace(/\r+\n/g, "\n")
    .split("\n")
    .map((line) => line.slice(line.lastIndexOf("\r") + 1))
    .join("\n");
}
