// Terminals on the machine where the server runs.

import { FitAddon } from "@xterm/addon-fit";
import { Terminal as Screen, type ITheme } from "@xterm/xterm";
import { useEffect, useRef, useState } from "preact/hooks";
import { address, get, Refused, send } from "./http";
import { t } from "./i18n";
import { sheeted, styleByProperties, whileSheeted } from "./sheeted";
import { attempt, terminalReader, theme } from "./state";
import { plain } from "./text";

interface Pty {
  id: string;
  title: string;
  status: string;
}

function colours(): ITheme {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const out: ITheme = { background: of("code"), foreground: of("text"), cursor: of("main"), selectionBackground: of("line") };
  for (const name of ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const) {
    const c = of(name);
    if (c === "") continue;
    out[name] = c;
    out[`bright${name[0]?.toUpperCase() ?? ""}${name.slice(1)}` as "brightRed"] = c;
  }
  return out;
}

/** Opens a link that a program printed, apart and without telling where from. */
function follow(url: string): void {
  if (/^https?:/i.test(url)) window.open(url, "_blank", "noopener,noreferrer");
}

styleByProperties(); // for the colours of its letters

function screen(place: HTMLElement): { term: Screen; fit: FitAddon } {
  const term = new Screen({
    documentOverride: sheeted(document),
    cursorBlink: !matchMedia("(prefers-reduced-motion: reduce)").matches,
    fontFamily: getComputedStyle(place).fontFamily,
    fontSize: 13,
    theme: colours(),
    minimumContrastRatio: 4.5,
    scrollback: 5_000,
    screenReaderMode: terminalReader.peek(),
    linkHandler: { activate: (_, url) => follow(url) },
  });
  const fit = new FitAddon();
  term.loadAddon(fit);
  whileSheeted(document, () => term.open(place));
  // Tab belongs to the program; this gives the keyboard back to the page.
  term.attachCustomKeyEventHandler((e) => {
    if (e.key !== "Escape" || !e.shiftKey) return true;
    term.blur();
    place.closest<HTMLElement>(".terminal")?.querySelector("button")?.focus();
    return false;
  });
  return { term, fit };
}

/** Ended: its program. Gone: what ran it, and the program with that. */
type Line = "open" | "lost" | "ended" | "gone";

/** Reports whether there is no such terminal any more. Where that is not known there may be. */
async function missing(pty: Pty, dir: string, signal: AbortSignal): Promise<boolean> {
  try {
    await get("/pty/" + pty.id, { directory: dir }, signal);
    return false;
  } catch (e) {
    return isMissing(e);
  }
}

function isMissing(e: unknown): boolean {
  return e instanceof Refused && e.status === 404;
}

/** Carries a terminal over a connection, which is made again when it breaks. */
function attach(pty: Pty, dir: string, place: HTMLElement, tell: (l: Line) => void): () => void {
  const { term, fit } = screen(place);
  const gone = new AbortController();
  let socket: WebSocket | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  const connect = () => {
    const s = new WebSocket(address(`/pty/${pty.id}/connect`, { directory: dir }).replace(/^http/, "ws"));
    socket = s;
    s.onopen = () => {
      term.reset(); // the server begins with what it kept
      tell("open");
      size();
    };
    s.onmessage = (m: MessageEvent<string>) => term.write(m.data);
    s.onclose = (e) => {
      if (gone.signal.aborted) return;
      if (e.code === 1000) {
        tell("ended");
        return;
      }
      tell("lost");
      void missing(pty, dir, gone.signal).then((over) => {
        if (gone.signal.aborted) return;
        if (over) tell("gone");
        else retry = setTimeout(connect, 2_000);
      });
    };
  };
  const size = () => {
    fit.fit();
    if (socket?.readyState === WebSocket.OPEN) void send("PUT", `/pty/${pty.id}`, { size: { rows: term.rows, cols: term.cols } }, { directory: dir }).catch(() => undefined);
  };
  term.onData((text) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(text);
  });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch = new ResizeObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(size, 100);
  });
  watch.observe(place);
  connect();
  term.focus();
  return () => {
    gone.abort();
    clearTimeout(retry);
    clearTimeout(timer);
    watch.disconnect();
    socket?.close();
    term.dispose();
  };
}

function One(props: { pty: Pty; dir: string; ended: () => void }) {
  const place = useRef<HTMLDivElement>(null);
  const [line, setLine] = useState<Line>("lost");
  useEffect(() => {
    if (!place.current) return;
    return attach(props.pty, props.dir, place.current, (l) => {
      setLine(l);
      if (l === "ended") props.ended();
    });
  }, [props.pty.id, theme.value, terminalReader.value]);
  return (
    <>
      {(line === "lost" || line === "gone") && (
        <p class="quiet" role="status">
          {t(line === "lost" ? "terminalLost" : "terminalGone")}
        </p>
      )}
      <div class="screen mono" ref={place} />
    </>
  );
}

export function Terminal(props: { dir: string }) {
  const { dir } = props;
  const [list, setList] = useState<Pty[]>();
  const [at, setAt] = useState("");
  const open = async () => {
    const made = await attempt(send<Pty>("POST", "/pty", {}, { directory: dir }));
    if (!made) return;
    setList((all) => [...(all ?? []), made]);
    setAt(made.id);
  };
  const load = async () => {
    const all = (await attempt(get<Pty[]>("/pty", { directory: dir }))) ?? [];
    const running = all.filter((p) => p.status === "running");
    setList(running);
    const last = running[running.length - 1];
    if (last) setAt(last.id);
    return running.length;
  };
  useEffect(() => {
    void load().then((n) => (n === 0 ? open() : undefined));
  }, [dir]);
  const close = async (id: string) => {
    const ended = send("DELETE", `/pty/${id}`, undefined, { directory: dir }).catch((e: unknown) => {
      if (!isMissing(e)) throw e;
    });
    await attempt(ended);
    await load();
  };
  const now = list?.find((p) => p.id === at);
  return (
    <section class="panel terminal" aria-label={t("terminal")}>
      <p class="buttons">
        {list && list.length > 1 && (
          <select aria-label={t("terminal")} value={at} onChange={(e) => setAt(e.currentTarget.value)}>
            {list.map((p, i) => (
              <option key={p.id} value={p.id}>
                {i + 1}: {plain(p.title)}
              </option>
            ))}
          </select>
        )}
        <button type="button" onClick={() => void open()}>
          {t("terminalNew")}
        </button>
        {now && (
          <button type="button" class="danger" onClick={() => void close(now.id)}>
            {t("terminalEnd")}
          </button>
        )}
        <label class="quiet">
          <input type="checkbox" checked={terminalReader.value} onChange={(e) => (terminalReader.value = e.currentTarget.checked)} /> {t("screenReader")}
        </label>
        <span class="quiet">{t("terminalLeave")}</span>
      </p>
      {now && <One key={now.id} pty={now} dir={dir} ended={() => void load()} />}
      {list?.length === 0 && <p class="quiet">{t("terminalNone")}</p>}
    </section>
  );
}
