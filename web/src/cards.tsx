// What a tool did, as a person wants to see it.

import { useState } from "preact/hooks";
import { collapse, printed, spans } from "./ansi";
import { Diff } from "./diff";
import { ended } from "./ended";
import { Code } from "./html";
import { span, t } from "./i18n";
import { beside } from "./route";
import { Spin } from "./spin";
import { sessions } from "./state";
import { base, head, plain, within } from "./text";
import { TodoList, tasks } from "./todolist";
import type { FilePart, Meta, ToolPart } from "./wire";

const shown = 20_000;

function text(m: Meta | undefined, name: string): string {
  const v = m?.[name];
  return typeof v === "string" ? v : "";
}

/** One line that says what a call is about. */
export function subject(p: ToolPart, dir: string): string {
  const input = p.state.input;
  const file = text(input, "filePath") || text(input, "path");
  switch (p.tool) {
    case "bash":
      return text(input, "command");
    case "read":
    case "write":
    case "edit":
    case "multiedit":
      return within(file, dir);
    case "grep":
    case "glob":
      return [text(input, "pattern"), file && within(file, dir)].filter(Boolean).join("  ");
    case "webfetch":
      return text(input, "url");
    case "task":
      return text(input, "description");
  }
  return "title" in p.state && p.state.title ? p.state.title : "";
}

export function Output(props: { text: string }) {
  const [all, setAll] = useState(false);
  const part = head(props.text, all ? 2_000_000 : shown);
  return (
    <div class="output">
      <pre>
        {spans(collapse(part.text)).map((s, i) => (s.style === "" ? s.text : <span key={i} class={s.style}>{s.text}</span>))}
      </pre>
      {part.cut > 0 && (
        <p class="quiet">
          {t("cut", { n: part.cut })}
          {!all && (
            <button type="button" onClick={() => setAll(true)}>
              {t("whole")}
            </button>
          )}
        </p>
      )}
    </div>
  );
}

export function Attachment(props: { file: FilePart }) {
  const { mime, url, filename } = props.file;
  if (/^image\/(?:png|jpeg|gif|webp|avif)$/.test(mime) && url.startsWith("data:")) return <img class="picture" src={url} alt={filename ?? t("attached")} loading="lazy" />;
  return <span class="chip">{plain(filename ?? base(url.slice(0, 200)))}</span>;
}

function body(p: ToolPart, dir: string) {
  const s = p.state;
  const meta = "metadata" in s ? s.metadata : undefined;
  const patch = text(meta, "diff");
  if (s.status === "error") return ended(s).why === "" ? null : <Output text={ended(s).why} />;
  if (patch !== "") return <Diff patch={patch} label={subject(p, dir)} />;
  if (p.tool === "write") return <Code text={head(text(s.input, "content"), shown).text} name={text(s.input, "filePath")} />;
  if (p.tool === "todowrite" && tasks(s.input["todos"]).length > 0) return <TodoList todos={tasks(s.input["todos"])} />;
  if (s.status === "completed" && p.tool === "bash") return <Output text={printed(s.output, text(meta, "output"))} />;
  if (s.status === "completed") return <Output text={p.tool === "read" ? strip(s.output) : s.output} />;
  return text(meta, "output") === "" ? null : <Output text={text(meta, "output")} />;
}

/** Leaves out what only tells the model where a file begins. */
function strip(output: string): string {
  return output.replace(/^<(?:file|path|type|content)>.*\n?/gm, "").replace(/\n?<\/(?:file|content)>\s*$/, "");
}

export function ToolCard(props: { part: ToolPart; dir: string }) {
  const { part: p, dir } = props;
  const s = p.state;
  const opens = ["edit", "multiedit", "write", "apply_patch"].includes(p.tool) || s.status === "error" || (p.tool === "bash" && s.status === "running");
  const [open, setOpen] = useState<boolean | undefined>(undefined);
  const shows = open ?? opens;
  const child = p.tool === "task" && "metadata" in s ? text(s.metadata, "sessionId") : "";
  const about = subject(p, dir);
  const exit = "metadata" in s ? s.metadata["exit"] : undefined;
  return (
    <div class={"card " + s.status}>
      <button type="button" class="cardhead" aria-expanded={shows} onClick={() => setOpen(!shows)}>
        <span class="tool">{plain(p.tool)}</span>
        <span class={p.tool === "bash" ? "about mono" : "about"}>{plain(about.split("\n")[0] ?? "")}</span>
        {typeof exit === "number" && exit !== 0 && <span class="bad">exit {exit}</span>}
        {"time" in s && "end" in s.time && <span class="quiet">{span(s.time.end - s.time.start)}</span>}
        {s.status === "running" && <Spin label={t("running")} />}
        {s.status === "error" && <span class="bad">{t(ended(s).word)}</span>}
      </button>
      {child !== "" && (
        <a class="into" href={beside(child)}>
          {t("subtask")}: {plain(sessions.value.get(child)?.title ?? about)}
        </a>
      )}
      {shows && (
        <div class="cardbody">
          {p.tool === "bash" && about.includes("\n") && <pre class="code">{plain(about)}</pre>}
          {body(p, dir)}
          {s.status === "completed" && s.attachments?.map((f) => <Attachment key={f.id} file={f} />)}
        </div>
      )}
    </div>
  );
}
