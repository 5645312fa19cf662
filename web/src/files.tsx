// The files of a directory: a tree, a viewer, and finding in them.

import { useEffect, useRef, useState } from "preact/hooks";
import { copy, Html } from "./html";
import { highlight, languageOf } from "./highlight";
import { get } from "./http";
import { number, t } from "./i18n";
import type { Safe } from "./markdown";
import { attempt } from "./state";
import { head, plain } from "./text";

interface Node {
  name: string;
  path: string;
  type: "file" | "directory";
  ignored: boolean;
}

interface FileText {
  path: string;
  text: string;
  mime?: string;
  base64?: string;
  size: number;
  cut?: boolean;
}

interface Found {
  lines: { path: string; line: number; text: string; spans: { start: number; end: number }[] }[];
  more: boolean;
}

/** A place in a file; line 0 is its beginning. */
interface Spot {
  path: string;
  line: number;
}

function Branch(props: { dir: string; path: string; open: (s: Spot) => void }) {
  const [list, setList] = useState<Node[]>();
  useEffect(() => {
    void attempt(get<Node[]>("/file", { path: props.path, directory: props.dir })).then((l) => setList(l ?? []));
  }, [props.dir, props.path]);
  if (!list) return <p class="quiet">{t("loading")}</p>;
  return (
    <ul class="tree">
      {list.map((n) => (
        <Twig key={n.path} node={n} dir={props.dir} open={props.open} />
      ))}
      {list.length === 0 && <li class="quiet">{t("empty")}</li>}
    </ul>
  );
}

function Twig(props: { node: Node; dir: string; open: (s: Spot) => void }) {
  const { node } = props;
  const [open, setOpen] = useState(false);
  const folder = node.type === "directory";
  return (
    <li>
      <button
        type="button"
        class={node.ignored ? "link mono ignored" : "link mono"}
        aria-expanded={folder ? open : undefined}
        onClick={() => (folder ? setOpen(!open) : props.open({ path: node.path, line: 0 }))}
      >
        <span aria-hidden="true">{folder ? (open ? "▾ " : "▸ ") : "  "}</span>
        {plain(node.name)}
        {folder ? "/" : ""}
      </button>
      {folder && open && <Branch dir={props.dir} path={node.path} open={props.open} />}
    </li>
  );
}

const shown = 300_000;

/** A text with numbered lines, in the colours of its language. */
function Lines(props: { text: string; name: string; line: number }) {
  const [html, setHtml] = useState<Safe>();
  const box = useRef<HTMLDivElement>(null);
  const part = head(props.text, shown);
  const count = part.text.split("\n").length - (part.text.endsWith("\n") ? 1 : 0);
  useEffect(() => {
    let current = true;
    setHtml(undefined);
    void highlight(part.text, languageOf(props.name)).then((made) => current && setHtml(made));
    return () => {
      current = false;
    };
  }, [part.text, props.name]);
  useEffect(() => {
    const mark = box.current?.querySelector<HTMLElement>(".here");
    if (!mark) return;
    mark.style.top = `calc(${props.line - 1} * var(--row))`;
    mark.scrollIntoView({ block: "center" });
  }, [props.line, props.text]);
  return (
    <>
      <div class="lines" ref={box} tabIndex={0} role="figure" aria-label={props.name}>
        <pre class="nos" aria-hidden="true">
          {Array.from({ length: Math.max(count, 1) }, (_, i) => i + 1).join("\n")}
        </pre>
        {html === undefined ? <pre>{plain(part.text)}</pre> : <Html class="pre" html={html} />}
        {props.line > 0 && <span class="here" />}
      </div>
      {part.cut > 0 && <p class="quiet">{t("cut", { n: number(part.cut) })}</p>}
    </>
  );
}

function Viewer(props: { dir: string; spot: Spot; back: () => void }) {
  const { spot } = props;
  const [file, setFile] = useState<FileText>();
  useEffect(() => {
    setFile(undefined);
    void attempt(get<FileText>("/lathe/file/text", { path: spot.path, directory: props.dir })).then(setFile);
  }, [props.dir, spot.path]);
  return (
    <section class="viewer" aria-label={spot.path}>
      <p class="buttons">
        <button type="button" onClick={props.back}>
          ← {t("back")}
        </button>
        <span class="mono grow">{plain(spot.path)}</span>
        <button type="button" onClick={() => copy(file?.text ?? "")} disabled={!file?.text}>
          {t("copy")}
        </button>
      </p>
      {!file && <p class="quiet">{t("loading")}</p>}
      {file?.base64 !== undefined && <img class="picture" src={`data:${file.mime ?? ""};base64,${file.base64}`} alt={file.path} />}
      {file?.mime !== undefined && file.base64 === undefined && <p class="quiet">{t("binary", { kind: file.mime, size: number(file.size) })}</p>}
      {file?.mime === undefined && file && <Lines text={file.text} name={file.path} line={spot.line} />}
      {file?.cut && <p class="quiet">{t("cut", { n: number(file.size) })}</p>}
    </section>
  );
}

/** Marks what was found in a line; the spans count bytes. */
export function pieces(text: string, spans: { start: number; end: number }[]): { text: string; marked: boolean }[] {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder();
  const out: { text: string; marked: boolean }[] = [];
  let at = 0;
  const put = (end: number, marked: boolean) => {
    if (end > at) out.push({ text: decoder.decode(bytes.slice(at, end)), marked });
    at = Math.max(at, end);
  };
  for (const s of spans) {
    put(s.start, false);
    put(s.end, true);
  }
  put(bytes.length, false);
  return out;
}

function Finder(props: { dir: string; words: string; regexp: boolean; open: (s: Spot) => void }) {
  const [found, setFound] = useState<Found>();
  const [why, setWhy] = useState("");
  useEffect(() => {
    setFound(undefined);
    setWhy("");
    const gone = new AbortController();
    const timer = setTimeout(() => {
      get<Found>("/lathe/find", { pattern: props.words, directory: props.dir, ...(props.regexp ? { regexp: true } : {}) }, gone.signal).then(setFound, (err: unknown) => {
        if (!gone.signal.aborted) setWhy(err instanceof Error ? err.message : String(err));
      });
    }, 250);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [props.dir, props.words, props.regexp]);
  if (why !== "") return <p class="bad">{plain(why)}</p>;
  if (!found) return <p class="quiet">{t("loading")}</p>;
  let last = "";
  return (
    <ul class="found" aria-label={t("findFiles")}>
      {found.lines.map((l) => {
        const heading = l.path === last ? undefined : l.path;
        last = l.path;
        return (
          <li key={`${l.path}:${l.line}`}>
            {heading !== undefined && <h3 class="mono small">{plain(heading)}</h3>}
            <button type="button" class="link mono" onClick={() => props.open({ path: l.path, line: l.line })}>
              <span class="quiet">{l.line}</span> {pieces(l.text, l.spans).map((p, i) => (p.marked ? <mark key={i}>{plain(p.text)}</mark> : plain(p.text)))}
            </button>
          </li>
        );
      })}
      {found.lines.length === 0 && <li class="quiet">{t("noMatch")}</li>}
      {found.more && <li class="quiet">{t("foundMore", { n: found.lines.length })}</li>}
    </ul>
  );
}

export function Files(props: { dir: string }) {
  const [spot, setSpot] = useState<Spot>();
  const [words, setWords] = useState("");
  const [regexp, setRegexp] = useState(false);
  return (
    <section class="panel filespanel" aria-label={t("files")}>
      {spot && <Viewer dir={props.dir} spot={spot} back={() => setSpot(undefined)} />}
      <div hidden={spot !== undefined} class="panelbody">
        <input type="search" placeholder={t("findFiles")} aria-label={t("findFiles")} value={words} onInput={(e) => setWords(e.currentTarget.value)} />
        {words !== "" && (
          <label class="quiet">
            <input type="checkbox" checked={regexp} onChange={(e) => setRegexp(e.currentTarget.checked)} /> {t("regexp")}
          </label>
        )}
        {words.trim() === "" ? <Branch dir={props.dir} path="" open={setSpot} /> : <Finder dir={props.dir} words={words} regexp={regexp} open={setSpot} />}
      </div>
    </section>
  );
}
