import { createHash, type Hash } from "node:crypto";

const LINES_MAX = 200_000;

/** What happened, line by line. Two runs of one seed write the same lines. */
export class Trace {
  readonly lines: string[] = [];
  readonly #digest: Hash = createHash("sha256");
  readonly isKept: boolean;
  /** Tells the virtual time. */
  nowMs: () => number = () => 0;

  /** Without `isKept` only the digest grows. */
  constructor(isKept: boolean) {
    this.isKept = isKept;
  }

  say(who: string, what: string): void {
    this.#keep(this.#write(who, what));
  }

  /** What only shows that time passes: it is part of the digest and of no page. */
  sayQuietly(who: string, what: string): void {
    this.#write(who, what);
  }

  /** For the reader alone. */
  note(what: string): void {
    this.#keep(`${" ".repeat(24)} → ${what}`);
  }

  #write(who: string, what: string): string {
    const line = `${(this.nowMs() / 1_000).toFixed(3).padStart(9)}  ${who.padEnd(12)} ${what}`;
    this.#digest.update(line);
    return line;
  }

  #keep(line: string): void {
    if (this.isKept && this.lines.length < LINES_MAX) this.lines.push(line);
  }

  digest(): string {
    return this.#digest.copy().digest("hex");
  }
}

/** A hash or an address as it can be read in a line. */
export function short(hex: string): string {
  return hex.length > 12 ? hex.slice(0, 8) : hex;
}
