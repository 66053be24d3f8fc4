import { createHash, type Hash } from "node:crypto";

const LINES_MAX = 200_000;

/** What happened, line by line. Two runs of one seed write the same lines. */
export class Trace {
  readonly lines: string[] = [];
  readonly #digest: Hash = createHash("sha256");
  readonly keepsLines: boolean;
  /** Tells the virtual time. */
  nowMs: () => number = () => 0;

  /** Without `keepsLines` only the digest grows. */
  constructor(isKept: boolean) {
    this.keepsLines = isKept;
  }

  append(who: string, what: string): void {
    this.#keepLine(this.#formatAndDigest(who, what));
  }

  /** What only shows that time passes: it is part of the digest and of no page. */
  appendToDigest(who: string, what: string): void {
    this.#formatAndDigest(who, what);
  }

  /** For the reader alone. */
  annotate(what: string): void {
    this.#keepLine(`${" ".repeat(24)} → ${what}`);
  }

  #formatAndDigest(who: string, what: string): string {
    const line = `${(this.nowMs() / 1_000).toFixed(3).padStart(9)}  ${who.padEnd(12)} ${what}`;
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
