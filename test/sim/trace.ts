import { createHash, type Hash } from "node:crypto";

const LINES_MAX = 200_000;

/** The events of a run, line by line. Two runs of one seed write the same lines. */
export class Trace {
  readonly lines: string[] = [];
  readonly #digest: Hash = createHash("sha256");
  readonly keepsLines: boolean;
  /** Returns the virtual time. */
  nowMs: () => number = () => 0;

  /** Without `isKept` only the digest grows. */
  constructor(isKept: boolean) {
    this.keepsLines = isKept;
  }

  append(source: string, text: string): void {
    this.#keepLine(this.#formatAndDigest(source, text));
  }

  /** Adds a line to the digest alone, because it only shows that time passes. */
  appendToDigest(source: string, text: string): void {
    this.#formatAndDigest(source, text);
  }

  /** Adds a line for readers, outside the digest. */
  annotate(text: string): void {
    this.#keepLine(`${" ".repeat(24)} → ${text}`);
  }

  #formatAndDigest(source: string, text: string): string {
    const line = `${(this.nowMs() / 1_000).toFixed(3).padStart(9)}  ${source.padEnd(12)} ${text}`;
    this.#digest.update(line);
    return line;
  }

  #keepLine(line: string): void {
    if (this.keepsLines && this.lines.length < LINES_MAX) this.lines.push(line);
  }

  digest(): string {
    return this.#digest.copy().digest("hex");
  }
}
