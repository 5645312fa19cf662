// Markdown of models and people, as HTML that can do no harm.

import DOMPurify, { type Config } from "dompurify";
import { Marked, type Tokens } from "marked";
import { plain } from "./text";

const tags = [
  "a", "b", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "input", "kbd", "li", "ol", "p", "pre", "s", "span",
  "strong", "sub", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul",
];

// Pictures are left out: to fetch one tells its server that somebody reads this.
const config: Config = {
  ALLOWED_TAGS: tags,
  ALLOWED_ATTR: ["href", "class", "align", "start", "type", "checked", "disabled", "data-lang", "rel", "target", "title"],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ALLOW_DATA_ATTR: false,
  RETURN_TRUSTED_TYPE: true,
};

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (c) => escapes[c] ?? c);
}

const marked = new Marked({
  gfm: true,
  async: false,
  renderer: {
    // HTML in the text is shown, not obeyed.
    html({ text }: Tokens.HTML | Tokens.Tag): string {
      return escape(text);
    },
    code({ text, lang }: Tokens.Code): string {
      const language = (lang ?? "").split(/[\s,{]/)[0] ?? "";
      return `<pre data-lang="${escape(language)}"><code>${escape(text)}\n</code></pre>`;
    },
    image({ href, text }: Tokens.Image): string {
      return `<a href="${escape(href)}">${escape(text || href)}</a>`;
    },
    link({ href, tokens }: Tokens.Link): string {
      const inside = this.parser.parseInline(tokens);
      return /^(?:https?|mailto):/i.test(href) ? `<a href="${escape(href)}">${inside}</a>` : inside;
    },
  },
});

let hooked = false;

function hook(): void {
  hooked = true;
  DOMPurify.addHook("uponSanitizeAttribute", (_, data) => {
    if (data.attrName === "data-lang") data.forceKeepAttr = true;
  });
  DOMPurify.addHook("afterSanitizeAttributes", (node) => {
    if (node.tagName !== "A") return;
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  });
}

/** HTML that was made safe; the only kind that {@link Html} takes. The browser checks it once more, by its trusted types. */
declare const made: unique symbol;
export type Safe = object & { readonly [made]: true };

export function safe(html: string): Safe {
  if (!hooked) hook();
  return DOMPurify.sanitize(html, config) as unknown as Safe;
}

const longest = 200_000;

/** Renders a piece of Markdown. */
export function render(text: string): Safe {
  if (text.length > longest) return safe(`<pre><code>${escape(plain(text))}</code></pre>`);
  return safe(marked.parse(plain(text)) as string);
}

/**
 * Divides a text that still grows: what stands before the last place where a block
 * surely ended is final and need not be parsed again. From is where an earlier call
 * found such a place; the answer is the next one, or from.
 */
export function boundary(text: string, from: number): number {
  let at = from;
  let found = from;
  let fence = "";
  let last = "";
  while (at < text.length) {
    const end = text.indexOf("\n", at);
    if (end < 0) break;
    const line = text.slice(at, end);
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== "") {
      if (mark !== undefined && mark.startsWith(fence) && line.trim() === mark) fence = "";
    } else if (mark !== undefined) fence = mark;
    else if (line.trim() === "" && last !== "" && starts(text.slice(end + 1, end + 40), last)) found = end + 1;
    if (line.trim() !== "") last = line;
    at = end + 1;
  }
  return found;
}

/** Reports whether a line surely begins a block of its own after another one and an empty line. */
function starts(next: string, last: string): boolean {
  if (!next.includes("\n") && next.length < 12) return false; // too little of it is there
  const item = /^(?:[-*+]|\d{1,9}[.)])\s/;
  return /^\S/.test(next) && !(item.test(next) && (item.test(last) || /^\s/.test(last))) && !next.startsWith("|") && !next.startsWith(">");
}
