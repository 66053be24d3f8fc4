import type { ProcessEnvironment } from "../../config/config.ts";

// What people see. Results go to standard output and nothing else does, so that they can be piped; the rest goes to standard error.

export type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan";

export type Terminal = {
  /** A line of the result. */
  out(line: string): void;
  /** A line about the work: progress, warnings, what went wrong. */
  note(line: string): void;
  /** Overwrites the line before it on a terminal, and is left out where there is none. */
  progress(line: string): void;
  paint(style: Style, text: string): string;
  /** Puts lines in the place of those that it showed before, on a terminal; elsewhere they are lines of the result. */
  redraw(lines: readonly string[]): void;
  /** Characters that fit on a line that moves. */
  columns(): number;
  /** Whether a person watches standard error, so that lines may move. */
  isInteractive: boolean;
  /** Aborts when nobody reads the result any more: what only tells may end then, and what does things goes on. */
  outputClosed: AbortSignal;
};

type Stream = {
  write(text: string): unknown;
  on(event: "error", heard: (error: NodeJS.ErrnoException) => void): unknown;
  isTTY?: boolean;
  columns?: number | undefined;
};

const CODES: Readonly<Record<Style, [open: number, close: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  green: [32, 39],
  red: [31, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};
/** What a write comes to when the other end of the pipe was closed, as `head` does once it has its lines. */
const BROKEN_PIPE_CODE = "EPIPE";
const CLEAR_LINE = "\r\u001b[2K";
/** Up by so many lines, and everything below is wiped out. */
const clearAbove = (lines: number) => `\r\u001b[${lines}A\u001b[J`;
const COLUMNS_DEFAULT = 100;

export function openTerminal(streams: { out: Stream; error: Stream }, environment: ProcessEnvironment): Terminal {
  const [out, error] = [ignoreBrokenPipe(streams.out), ignoreBrokenPipe(streams.error)];
  const plain = (environment["NO_COLOR"] ?? "") !== "" || environment["TERM"] === "dumb";
  const coloured = !plain && out.isTTY === true && error.isTTY === true;
  const isInteractive = error.isTTY === true && environment["TERM"] !== "dumb";
  let hasProgressLine = false;
  let drawnLines = 0;
  const clearProgress = () => {
    if (hasProgressLine) error.write(CLEAR_LINE);
    hasProgressLine = false;
    drawnLines = 0;
  };
  return {
    isInteractive,
    outputClosed: out.unread,
    columns: () => error.columns ?? COLUMNS_DEFAULT,
    redraw(lines) {
      if (!isInteractive) {
        for (const line of lines) out.write(`${line}\n`);
        return;
      }
      error.write(`${drawnLines === 0 ? "" : clearAbove(drawnLines)}${lines.map((line) => `${line}\n`).join("")}`);
      drawnLines = lines.length;
    },
    out(line) {
      clearProgress();
      out.write(`${line}\n`);
    },
    note(line) {
      clearProgress();
      error.write(`${line}\n`);
    },
    progress(line) {
      if (!isInteractive) return;
      error.write(`${CLEAR_LINE}${line}`);
      hasProgressLine = true;
    },
    paint(style, text) {
      const [open, close] = CODES[style];
      return coloured ? `\u001b[${open}m${text}\u001b[${close}m` : text;
    },
  };
}

/** The stream, which is written to only as long as somebody reads it. */
function ignoreBrokenPipe(stream: Stream): Pick<Stream, "write" | "isTTY" | "columns"> & { unread: AbortSignal } {
  const closed = new AbortController();
  stream.on("error", (error) => {
    if (error.code !== BROKEN_PIPE_CODE) throw error;
    closed.abort();
  });
  return {
    unread: closed.signal,
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns;
    },
    write: (text) => closed.signal.aborted || stream.write(text),
  };
}

/** Rows below a header, each column as wide as its widest cell. */
export function formatTable(
  terminal: Terminal,
  header: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [terminal.paint("dim", line(header.map((title) => title.toUpperCase()))), ...rows.map(line)];
}

/** One object as name and value, one a line. */
export function formatFields(
  terminal: Terminal,
  entries: readonly (readonly [name: string, value: string])[],
): string[] {
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${terminal.paint("dim", name.padEnd(width))}  ${value}`);
}

/** JSON on one line, amounts as texts as in the API. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? item.toString() : item));
}
