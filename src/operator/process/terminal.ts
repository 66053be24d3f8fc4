import type { ProcessEnvironment } from "../../config/config.ts";

// Terminal output. Only results go to standard output, so that they can be piped; everything else goes to standard
// error.

export type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan";

export type Terminal = {
  /** A line of the result. */
  out(line: string): void;
  /** A line about the work: progress, warnings, errors. */
  note(line: string): void;
  /** Overwrites the previous progress line. Prints nothing without a terminal. */
  progress(line: string): void;
  paint(style: Style, text: string): string;
  /** Replaces the lines of its previous call on a terminal. Without a terminal, prints them as result lines. */
  redraw(lines: readonly string[]): void;
  /** Width of the terminal in characters. */
  columns(): number;
  /** Whether standard error is a terminal, so that lines may be redrawn. */
  isInteractive: boolean;
  /** Aborts when the reader closes the output pipe. Commands that only print then stop; others continue. */
  outputClosed: AbortSignal;
};

export type Stream = {
  write(text: string): unknown;
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
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
/** The error of a write after the reader, such as `head`, has closed the pipe. */
const BROKEN_PIPE_CODE = "EPIPE";
const CLEAR_LINE = "\r\u001b[2K";
/** Moves the cursor up by `lines` and clears everything below. */
const clearAbove = (lines: number) => `\r\u001b[${lines}A\u001b[J`;
const COLUMNS_DEFAULT = 100;

export function openTerminal(streams: { out: Stream; error: Stream }, environment: ProcessEnvironment): Terminal {
  const [out, error] = [ignoreBrokenPipe(streams.out), ignoreBrokenPipe(streams.error)];
  const isPlain = (environment["NO_COLOR"] ?? "") !== "" || environment["TERM"] === "dumb";
  const isColoured = !isPlain && out.isTTY === true && error.isTTY === true;
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
    outputClosed: out.closed,
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
      return isColoured ? `\u001b[${open}m${text}\u001b[${close}m` : text;
    },
  };
}

/** Wraps a stream. After the reader closes the pipe, writes do nothing and `closed` aborts. */
function ignoreBrokenPipe(stream: Stream): Pick<Stream, "write" | "isTTY" | "columns"> & { closed: AbortSignal } {
  const closed = new AbortController();
  stream.on("error", (error) => {
    if (error.code !== BROKEN_PIPE_CODE) throw error;
    closed.abort();
  });
  return {
    closed: closed.signal,
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.columns;
    },
    write: (text) => closed.signal.aborted || stream.write(text),
  };
}

/** Formats rows below a header. Each column is as wide as its widest cell. */
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

/** Formats names and values, one pair on each line. */
export function formatFields(
  terminal: Terminal,
  entries: readonly (readonly [name: string, value: string])[],
): string[] {
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${terminal.paint("dim", name.padEnd(width))}  ${value}`);
}

/**
 * Formats JSON on one line. Amounts (bigint) become strings, as in the API. Control characters that JSON leaves as they
 * are become escapes.
 */
export function toJson(value: unknown): string {
  const json = JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? item.toString() : item));
  return json.replaceAll(/[\u007f-\u009f\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}
