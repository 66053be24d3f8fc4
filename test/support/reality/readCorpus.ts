import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

// Texts of real errors, by client and provider. A line is `part meaning | code | text | source`; the first line of a file
// names the source that its lines have in common, with its commit.

export const PARTS = ["read", "send", "http", "solana", "database"] as const;
export type Part = (typeof PARTS)[number];

export type RealText = {
  part: Part;
  meaning: string;
  /** A JSON-RPC code, an HTTP status, or a SQLSTATE with `F:` in front where the severity is FATAL. */
  code: string;
  text: string;
  source: string;
  /** One of five: it is only counted, and never printed, so that no pattern is written for it. */
  isHeldOut: boolean;
};

const FOLDER = new URL("./", import.meta.url);
const LINE = /^(\w+) (\w+) \| (\S+) \| (.+) \| (.+)$/;
const HELD_OUT_OF = 5;

export function readCorpus(): RealText[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith(".txt"));
  return files.toSorted().flatMap((name) => {
    const [head = "", ...lines] = readFileSync(new URL(name, FOLDER), "utf8").trimEnd().split("\n");
    return lines.map((line) => parseLine(line, `${name}: ${head.replace(/^# /, "")}`));
  });
}

function parseLine(line: string, head: string): RealText {
  const [, part, meaning = "", code = "", text = "", source = ""] = LINE.exec(line) ?? [];
  if (!PARTS.includes(part as Part)) throw new Error(`${head} has a line that cannot be read: ${line}`);
  const digest = createHash("sha256").update(`${part} ${text}`).digest();
  const isHeldOut = digest.readUInt32BE(0) % HELD_OUT_OF === 0;
  return { part: part as Part, meaning, code, text, source: `${source} (${head})`, isHeldOut };
}
