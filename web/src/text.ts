// Small work with texts.

const encoder = new TextEncoder();

/** The length of a text in UTF-8, in which the server counts. */
export function bytes(text: string): number {
  return encoder.encode(text).length;
}

/** What follows the first bytes of a text in UTF-8. */
export function fromByte(text: string, from: number): string {
  return from <= 0 ? text : new TextDecoder().decode(encoder.encode(text).subarray(from));
}

/** Leaves out what could turn the direction of a line or hide in it. */
export function plain(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, "");
}

/** The last piece of a path. */
export function base(path: string): string {
  const trimmed = path.replace(/[/\\]+$/, "");
  return trimmed.slice(Math.max(trimmed.lastIndexOf("/"), trimmed.lastIndexOf("\\")) + 1) || path;
}

/** A path as a person of the directory would name it. */
export function within(path: string, dir: string): string {
  return path.startsWith(dir + "/") ? path.slice(dir.length + 1) : path;
}

/** Keeps the beginning of a long text, whole lines where that is possible. */
export function head(text: string, max: number): { text: string; cut: number } {
  if (text.length <= max) return { text, cut: 0 };
  const line = text.lastIndexOf("\n", max);
  const end = line > max / 2 ? line : max;
  return { text: text.slice(0, end), cut: text.length - end };
}
