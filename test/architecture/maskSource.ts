// A source file seen in layers of equal length, so that an offset in one is the same place in all: the code without its
// comments and texts, the texts alone, and both without the comments. Rules read the layer in which their words mean what
// they look like: "new Date(" in a comment is no clock, and now() is only SQL inside a text.

export type MaskedSource = {
  /** Comments, the contents of texts and of regular expressions are blank. */
  readonly code: string;
  /** Only the contents of quoted and template texts; an expression inside a template is code. */
  readonly strings: string;
  /** Only the comments are blank. */
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
  // One entry for each template expression that we are inside of: how many of its braces are open.
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

/** The quotes themselves count as text, so that the code layer shows a gap where a text stood. */
function readString(source: string, at: number): Span {
  const quote = source[at];
  let end = at + 1;
  while (end < source.length && source[end] !== quote && source[end] !== "\n") end += source[end] === "\\" ? 2 : 1;
  return { kind: "text", end: end + 1 };
}

/** Reads from a backtick, or from the brace that closes an expression, to the next expression or the closing backtick. */
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

/** A whole regular expression, or a single slash when it divides. */
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
