// Colours of what commands print. Everything else that a terminal would obey is left out.

export interface Span {
  text: string;
  style: string; // class names
}

const marks: Record<number, string> = { 1: "b", 2: "dim", 3: "i", 4: "u", 7: "v", 9: "s", 21: "u" };
const ends: Record<number, string[]> = { 22: ["b", "dim"], 23: ["i"], 24: ["u"], 27: ["v"], 29: ["s"] };

/** The colours by their number in every palette. Programs print in black and white, and leave grey, for a background that they do not know. */
const colours = ["", "c-red", "c-green", "c-yellow", "c-blue", "c-magenta", "c-cyan", ""];

/** So many spans are made of one text; the rest of it is plain. */
const most = 20_000;

interface Look {
  marks: Set<string>;
  letters: string;
  ground: string;
}

/** Divides a text at its colour sequences. */
export function spans(text: string): Span[] {
  const out: Span[] = [];
  const look: Look = { marks: new Set(), letters: "", ground: "" };
  // CSI sequences; OSC, DCS, APC, PM and SOS strings; other escapes; single controls.
  const control = /\u001b\[([0-9;:<=>?]*)[ -/]*([@-~])|\u001b[\]P_^X][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|\u001b[ -/]*[0-~]?|\u009b[0-9;?]*[@-~]|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
  let at = 0;
  const put = (piece: string) => {
    if (piece === "") return;
    const style = classes(look);
    const last = out[out.length - 1];
    if (last && (last.style === style || out.length >= most)) last.text += piece;
    else out.push({ text: piece, style });
  };
  for (let m = control.exec(text); m; m = control.exec(text)) {
    put(text.slice(at, m.index));
    at = m.index + m[0].length;
    if (m[2] === "m" && /^[0-9;:]*$/.test(m[1] ?? "")) change(look, m[1] ?? "");
  }
  put(text.slice(at));
  return out;
}

/** What has a background is shown in the page's colour on that background, which can always be read. */
function classes(look: Look): string {
  const reversed = look.marks.has("v") !== (look.ground !== "");
  const list = [...look.marks].filter((m) => m !== "v" && !(m === "dim" && look.letters !== ""));
  const colour = look.ground || look.letters;
  if (colour !== "" && !list.includes(colour)) list.push(colour);
  if (reversed) list.push("v");
  return list.join(" ");
}

function change(look: Look, list: string): void {
  const parts = list.split(";");
  for (let i = 0; i < parts.length; i++) {
    const [first = "", ...sub] = (parts[i] ?? "").split(":");
    const n = Number(first);
    const mark = marks[n];
    if (n === 0) {
      look.marks.clear();
      look.letters = look.ground = "";
    } else if (n === 4 && sub[0] === "0") look.marks.delete("u");
    else if (mark) look.marks.add(mark);
    else if (ends[n]) ends[n].forEach((m) => look.marks.delete(m));
    else if (n >= 30 && n <= 37) look.letters = indexed(n - 30);
    else if (n >= 90 && n <= 97) look.letters = indexed(n - 82);
    else if (n >= 40 && n <= 47) look.ground = indexed(n - 40);
    else if (n >= 100 && n <= 107) look.ground = indexed(n - 92);
    else if (n === 39) look.letters = "";
    else if (n === 49) look.ground = "";
    else if (n === 38 || n === 48 || n === 58) {
      const rest = sub.length > 0 ? sub.map(Number) : parts.slice(i + 1).map(Number);
      const used = rest[0] === 5 ? 2 : rest[0] === 2 ? 4 : 0;
      if (sub.length === 0) i += used;
      else if (rest.length > 4) rest.splice(1, 1); // which space of colours
      const colour = used === 2 ? indexed(rest[1] ?? 0) : used === 4 ? nearest(rest[1] ?? 0, rest[2] ?? 0, rest[3] ?? 0) : "";
      if (n === 38) look.letters = colour;
      else if (n === 48) look.ground = colour;
    }
  }
}

/** The nearest colour of the page to one of the palette of 256. */
function indexed(n: number): string {
  if (n === 8) return "dim";
  if (n < 16) return colours[n % 8] ?? "";
  if (n >= 232) {
    const v = 8 + 10 * (n - 232);
    return nearest(v, v, v);
  }
  const level = (i: number) => (i === 0 ? 0 : 55 + 40 * i);
  return nearest(level(Math.floor((n - 16) / 36)), level(Math.floor((n - 16) / 6) % 6), level((n - 16) % 6));
}

/** The colour of the page with the same strong components. */
function nearest(r: number, g: number, b: number): string {
  const top = Math.max(r, g, b);
  const low = Math.min(r, g, b);
  if (top - low < 40) return top < 64 || top >= 192 ? "" : "dim";
  const half = (top + low) / 2;
  return colours[(r > half ? 1 : 0) + (g > half ? 2 : 0) + (b > half ? 4 : 0)] ?? "";
}

/** Keeps of each line what stood there last, as a terminal would; its colours go on. */
export function collapse(text: string): string {
  if (!text.includes("\r")) return text;
  return text
    .replace(/\r+\n/g, "\n")
    .split("\n")
    .map((line) => {
      const at = line.lastIndexOf("\r");
      return at < 0 ? line : (line.slice(0, at).match(/\u001b\[[0-9;:]*m/g) ?? []).join("") + line.slice(at + 1);
    })
    .join("\n");
}

/** What people see of a command: with its colours where it printed some, else what the model reads, which also has the beginning of a long output. */
export function printed(output: string, shown: string): string {
  const [text, notes] = parts(output);
  const body = shown.includes("\u001b[") ? shown : text;
  return notes === "" ? body : body.replace(/\n+$/, "") + "\n\n" + notes;
}

/** Divides what the model reads of a command from what lathe says of its end. */
function parts(output: string): [text: string, notes: string] {
  const at = output.lastIndexOf("\n\n<bash_metadata>\n");
  const end = "\n</bash_metadata>";
  if (at < 0 || !output.endsWith(end)) return [output, ""];
  return [output.slice(0, at), output.slice(at + "\n\n<bash_metadata>\n".length, -end.length)];
}
