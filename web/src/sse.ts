// Server-sent events, as the HTML standard (9.2.6) has them, read from a response: an
// EventSource could neither say where to resume nor tell a refusal from a lost line.

export interface Frame {
  id: string;
  data: string;
}

/** Takes text as it comes and returns the frames that are whole. */
export class Frames {
  private rest = "";
  private id = "";
  private data: string[] = [];

  feed(text: string): Frame[] {
    const out: Frame[] = [];
    this.rest += text;
    let from = 0;
    for (;;) {
      const end = this.rest.indexOf("\n", from);
      if (end < 0) break;
      const line = this.rest.slice(from, this.rest[end - 1] === "\r" ? end - 1 : end);
      from = end + 1;
      if (line !== "") this.line(line);
      else if (this.data.length > 0) {
        out.push({ id: this.id, data: this.data.join("\n") });
        this.data = [];
        this.id = "";
      }
    }
    this.rest = this.rest.slice(from);
    return out;
  }

  private line(line: string): void {
    const at = line.indexOf(":");
    const field = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
    if (field === "data") this.data.push(value);
    else if (field === "id") this.id = value;
  }
}

/** Reads frames until the stream ends. */
export async function read(body: ReadableStream<Uint8Array>, each: (frames: Frame[]) => void): Promise<void> {
  const frames = new Frames();
  const reader = body.getReader();
  const text = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const list = frames.feed(text.decode(value, { stream: true }));
    if (list.length > 0) each(list);
  }
}
