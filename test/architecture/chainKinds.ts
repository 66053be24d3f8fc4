import { isTest, lineNumberAt, type Codebase, type Source, type Violation } from "./codebase.ts";

// Terms of one chain kind stay below that kind: neutral code and comments never mention nonces or gas.

/** Allows a word in one file for a reason; an unused exception is a violation. */
export type KindException = { readonly path: string; readonly word: string; readonly reason: string };

const KIND_EXCEPTIONS: readonly KindException[] = [
  { path: "src/event/format/fields.ts", word: "0x", reason: "it stores what is shown as hexadecimal digits as bytes" },
];

/** Matches in any letter case, and inside longer words such as gasLimit. */
const EVM_WORDS = /nonce|gas|log_?index|receipt|0x/gi;
const NEUTRAL_FOLDERS = [
  "catalog",
  "merchant",
  "intent",
  "inbox",
  "view",
  "watch",
  "deposit",
  "bridge",
  "settlement",
  "priming",
  "audit",
  "loops",
  "ledger",
  "event",
] as const;
const NEUTRAL_PATH = new RegExp(`^src/(?:(?:${NEUTRAL_FOLDERS.join("|")})/|chain/[^/]+$)`);

export function evmWordsStayInTheirKind(
  codebase: Codebase,
  exceptions: readonly KindException[] = KIND_EXCEPTIONS,
): Violation[] {
  const checked = codebase.sources.filter(({ path }) => NEUTRAL_PATH.test(path) && !isTest(path));
  const found = checked.flatMap((source) => findWords(source));
  const isAllowed = (exception: KindException, use: WordUse) =>
    exception.path === use.path && exception.word === use.word;
  return [
    ...found
      .filter((use) => !exceptions.some((exception) => isAllowed(exception, use)))
      .map(({ path, line, word }) => ({
        path,
        line,
        message: `"${word}" belongs to EVM chains. Move it below src/chain/evm, or add an exception with a reason to test/architecture/chainKinds.ts.`,
      })),
    ...exceptions
      .filter((exception) => !found.some((use) => isAllowed(exception, use)))
      .map(({ path, word }) => ({
        path,
        message: `It no longer contains "${word}". Remove the exception in test/architecture/chainKinds.ts.`,
      })),
  ];
}

type WordUse = { path: string; line: number; word: string };

function findWords({ path, text }: Source): WordUse[] {
  return [...text.matchAll(EVM_WORDS)].map((match) => ({
    path,
    line: lineNumberAt(text, match.index),
    word: match[0].toLowerCase(),
  }));
}
