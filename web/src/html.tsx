import { Component } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { highlight, languageOf } from "./highlight";
import { boundary, render, type Safe } from "./markdown";
import { t } from "./i18n";
import { tell } from "./state";
import { plain } from "./text";

/** Puts HTML in that was made safe. */
export function Html(props: { html: Safe; class: string; of?: (e: HTMLElement | null) => void }) {
  // eslint-disable-next-line no-restricted-syntax
  return <div class={props.class} ref={props.of ?? null} dangerouslySetInnerHTML={{ __html: props.html as unknown as string }} />;
}

/** So many pieces are drawn together. */
const group = 16;

/** A block that grows beyond this many characters is shown as it is until it ends. */
const tail = 20_000;

/** Shows Markdown. Of a text that grows only the end is rendered again. */
export function Markdown(props: { text: string; growing?: boolean }) {
  const done = useRef<{ text: string; groups: string[][]; at: number }>({ text: "", groups: [], at: 0 });
  if (!props.growing) return <Block text={props.text} />;
  const d = done.current;
  if (!props.text.startsWith(d.text)) Object.assign(d, { groups: [], at: 0 });
  const next = boundary(props.text, d.at);
  if (next > d.at) {
    const last = d.groups[d.groups.length - 1];
    const piece = props.text.slice(d.at, next);
    if (last && last.length < group) d.groups[d.groups.length - 1] = [...last, piece];
    else d.groups.push([piece]);
    d.at = next;
  }
  d.text = props.text;
  return (
    <div class="md">
      {d.groups.map((pieces, i) => (
        <Pieces key={i} pieces={pieces} far={i < d.groups.length - 2} />
      ))}
      {props.text.length - d.at > tail ? <p class="said">{plain(props.text.slice(d.at))}</p> : <Block text={props.text.slice(d.at)} growing />}
    </div>
  );
}

/**
 * Pieces of a growing text that are final. The browser may pass over those that are far
 * from its end; to pass over newer ones would have their heights change as they come.
 */
class Pieces extends Component<{ pieces: string[]; far: boolean }> {
  override shouldComponentUpdate(next: { pieces: string[]; far: boolean }): boolean {
    return next.pieces !== this.props.pieces || next.far !== this.props.far;
  }

  override render() {
    return (
      <div class={this.props.far ? "md far" : "md"}>
        {this.props.pieces.map((piece, i) => (
          <Block key={i} text={piece} />
        ))}
      </div>
    );
  }
}

function Block(props: { text: string; growing?: boolean }) {
  const made = useRef<{ text: string; html: Safe } | undefined>(undefined);
  const [place, setPlace] = useState<HTMLElement | null>(null);
  if (made.current?.text !== props.text) made.current = { text: props.text, html: render(props.text) };
  useEffect(() => {
    if (place && !props.growing) void colour(place);
  }, [place, props.text, props.growing]);
  return <Html class="md" html={made.current.html} of={setPlace} />;
}

/** Colours the code in a place, and gives each piece a button that copies it. */
async function colour(place: HTMLElement): Promise<void> {
  for (const pre of place.querySelectorAll<HTMLElement>("pre[data-lang]:not(.done)")) {
    pre.classList.add("done");
    const code = pre.querySelector("code");
    if (!code) continue;
    const text = code.textContent;
    pre.append(copyButton(text));
    const html = await highlight(text, languageOf(pre.dataset["lang"] ?? ""));
    // eslint-disable-next-line no-restricted-syntax
    if (html !== undefined && code.isConnected) code.innerHTML = html as unknown as string;
  }
}

function copyButton(text: string): HTMLElement {
  const b = document.createElement("button");
  b.type = "button";
  b.className = "copy";
  b.textContent = t("copy");
  b.addEventListener("click", () => copy(text));
  return b;
}

export function copy(text: string): void {
  if (typeof navigator.clipboard === "undefined") {
    tell(t("noClipboard"), true);
    return;
  }
  navigator.clipboard.writeText(text).then(
    () => tell(t("copied")),
    () => tell(t("noClipboard"), true),
  );
}

/** Shows code in its language's colours. */
export function Code(props: { text: string; name: string }) {
  const [html, setHtml] = useState<Safe>();
  useEffect(() => {
    let current = true;
    setHtml(undefined);
    void highlight(props.text, languageOf(props.name)).then((made) => {
      if (current) setHtml(made);
    });
    return () => {
      current = false;
    };
  }, [props.text, props.name]);
  return html === undefined ? <pre class="code">{plain(props.text)}</pre> : <Html class="code pre" html={html} />;
}
