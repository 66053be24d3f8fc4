// Splits a source file into layers of equal length, so that an offset means the same place in each: code without
// comments and strings, strings alone, and both without comments. Each rule reads the layer where its patterns are
// unambiguous: "new Date(" in a comment is not a clock, and now() is SQL only inside a string.

export type MaskedSource = {
  /** Comments and the contents of strings and regular expressions are blank. */
  readonly code: string;
  /** Only the contents of strings and templates; an expression inside a template is code. */
  readonly strings: string;
  /** Only comments are blank. */
  readonly withoutComments: string;
};

type Kind = "code" | "text" | "comment";
type Span = { kind: Kind; end: number };

const REGEX_MAY_FOLLOW =
  /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|await|void|delete|throw|new|else|do))$/;

export function maskSource(source: string): MaskedSource {
  const kinds = classifyCharacters(source);
  const keepKinds = (wanted: readonly Kind[]) =>
    [...kinds].map((kind, at) => (wanted.includes(kind) || source[at] === "\n" ? source[at] : " ")).join("");
  return { code: keepKinds(["code"]), strings: keepKinds(["text"]), withoutComments: keepKinds(["code", "text"]) };
}

function classifyCharacters(source: string): Kind[] {
  const kinds: Kind[] = [];
  // The number of open braces of each enclosing template expression.
  const openBraces: number[] = [];
  let at = 0;
  while (at < source.length) {
    const span = readSpan(source, at, openBraces);
    while (at < span.end && at < source.length) {
      kinds.push(span.kind);
      at += 1;
    }
  }
  return kinds;
}

function readSpan(source: string, at: number, openBraces: number[]): Span {
  const character = source[at];
  const pair = source.slice(at, at + 2);
  if (pair === "//") return { kind: "comment", end: endBefore(source, "\n", at) };
  if (pair === "/*") return { kind: "comment", end: endAfter(source, "*/", at + 2) };
  if (character === "/") return readSlash(source, at);
  if (character === '"' || character === "'") return readString(source, at);
  if (character === "`") return readTemplate(source, at, openBraces);
  if (character === "{" || character === "}") return readBrace(source, at, openBraces);
  return { kind: "code", end: at + 1 };
}

/** Quotes count as string content, so that the code layer has a gap there. */
function readString(source: string, at: number): Span {
  const quote = source[at];
  let end = at + 1;
  while (end < source.length && source[end] !== quote && source[end] !== "\n") end += source[end] === "\\" ? 2 : 1;
  return { kind: "text", end: end + 1 };
}

/**
 * Reads from a backtick, or from the brace that closes an expression, to the next expression or the closing backtick.
 */
function readTemplate(source: string, at: number, openBraces: number[]): Span {
  let end = at + 1;
  while (end < source.length && source[end] !== "`") {
    if (source.startsWith("${", end)) {
      openBraces.push(0);
      return { kind: "text", end: end + 2 };
    }
    end += source[end] === "\\" ? 2 : 1;
  }
  return { kind: "text", end: end + 1 };
}

function readBrace(source: string, at: number, openBraces: number[]): Span {
  const depth = openBraces.at(-1);
  if (depth === undefined) return { kind: "code", end: at + 1 };
  if (source[at] === "{") openBraces[openBraces.length - 1] = depth + 1;
  else if (depth > 0) openBraces[openBraces.length - 1] = depth - 1;
  else {
    openBraces.pop();
    return readTemplate(source, at, openBraces);
  }
  return { kind: "code", end: at + 1 };
}

/** Reads a whole regular expression, or a single slash when it divides. */
function readSlash(source: string, at: number): Span {
  const before = source.slice(Math.max(0, at - 40), at).trimEnd();
  const division: Span = { kind: "code", end: at + 1 };
  if (!REGEX_MAY_FOLLOW.test(before)) return division;
  let inClass = false;
  for (let end = at + 1; end < source.length && source[end] !== "\n"; end += 1) {
    if (source[end] === "\\") end += 1;
    else if (source[end] === "[") inClass = true;
    else if (source[end] === "]") inClass = false;
    else if (source[end] === "/" && !inClass) return { kind: "text", end: end + 1 };
  }
  return division;
}

function endBefore(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from);
  return found === -1 ? source.length : found;
}

function endAfter(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from);
  return found === -1 ? source.length : found + mark.length;
}
