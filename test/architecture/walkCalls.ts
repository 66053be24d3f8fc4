import { isTest, type Codebase, type Source } from "./codebase.ts";

// Follows the calls from one function to all others that take the same parameter, in the order in which a reader who
// looks up each of them would.

export type Walk = {
  /** Calls of functions that take the parameter, each place of a call once. */
  calls: number;
  /** The files of these functions, in the order in which the walk first reaches them. */
  files: readonly string[];
  /** Calls into another file than the caller's that the walk had reached before. */
  returns: number;
};

type FoundFunction = { path: string; name: string; parameters: readonly string[]; body: string };
type Functions = ReadonlyMap<string, FoundFunction>;

/** Throws when no function of this name takes the parameter. */
export function walkCalls(codebase: Codebase, { name, parameter }: { name: string; parameter: string }): Walk {
  const sources = codebase.sources.filter(({ path }) => path.startsWith("src/") && !isTest(path));
  const functions: Functions = new Map(
    sources.flatMap(findFunctions).map((found) => [`${found.path} ${found.name}`, found]),
  );
  const namesOf = new Map(sources.map((source) => [source.path, importedNames(source)]));
  const start = [...functions.values()].find((each) => each.name === name && each.parameters.includes(parameter));
  if (start === undefined) throw new Error(`No function ${name} of src takes ${parameter}`);
  const entered = new Set([start]);
  const files = new Set([start.path]);
  let [calls, returns] = [0, 0];
  follow(start);
  return { calls, files: [...files], returns };

  function follow(caller: FoundFunction): void {
    for (const match of caller.body.matchAll(/(?<![.\w$#])([A-Za-z_$][\w$]*)\s*\(/g)) {
      const called = findCalled(caller.path, match[1] ?? "");
      if (!called?.parameters.includes(parameter)) continue;
      calls += 1;
      if (called.path !== caller.path && files.has(called.path)) returns += 1;
      files.add(called.path);
      if (entered.has(called)) continue;
      entered.add(called);
      follow(called);
    }
  }

  function findCalled(path: string, local: string): FoundFunction | undefined {
    const own = functions.get(`${path} ${local}`);
    const imported = namesOf.get(path)?.get(local);
    return own ?? (imported && functions.get(`${imported.target} ${imported.name}`));
  }
}

const DECLARED = /^(?:export\s+)?(?:async\s+)?function\*?\s+([\w$]+)(?:<[^(]*>)?\(|^(?:export\s+)?class\s+([\w$]+)/gm;

/** The functions and classes at the top of a file; a class takes what its constructor takes. */
function findFunctions({ path, masked: { code } }: Source): FoundFunction[] {
  return [...code.matchAll(DECLARED)].map((match) => {
    const [, name = match[2] ?? ""] = match;
    const end = code.indexOf("\n}", match.index);
    const text = code.slice(match.index, end);
    const from = match[2] === undefined ? match[0].length : text.indexOf("constructor(") + "constructor(".length;
    const close = closingParenthesis(text, from);
    return { path, name, parameters: parameterNames(text.slice(from, close)), body: text.slice(match[0].length) };
  });
}

function closingParenthesis(text: string, from: number): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === "(") depth += 1;
    if (text[at] === ")") depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}

/** The names before the types. The members of a destructured object are none: they are part of an argument. */
function parameterNames(text: string): string[] {
  const names: string[] = [];
  let [depth, isType] = [0, false];
  for (const [token] of text.matchAll(/[\w$]+|=>|\S/g)) {
    if ("({[<".includes(token)) depth += 1;
    else if (")}]>".includes(token)) depth -= 1;
    else if (depth === 0 && token === ":") isType = true;
    else if (depth === 0 && token === ",") isType = false;
    else if (depth === 0 && !isType && /^[A-Za-z_$]/.test(token)) names.push(token);
  }
  return names;
}

type ImportedName = { target: string; name: string };

function importedNames({ imports, masked: { withoutComments } }: Source): Map<string, ImportedName> {
  const targets = new Map(imports.map(({ specifier, target }) => [specifier, target]));
  const found = new Map<string, ImportedName>();
  for (const [, names = "", specifier = ""] of withoutComments.matchAll(/import\s*\{([^}]*)\}\s*from\s*"([^"]+)"/g)) {
    const target = targets.get(specifier);
    if (target === undefined) continue;
    for (const each of names.split(",")) {
      const [name = "", local = name] = each.trim().split(/\s+as\s+/);
      if (name !== "") found.set(local, { target, name });
    }
  }
  return found;
}
