import { readdirSync, readFileSync } from "node:fs";
import { join, posix, sep } from "node:path";
import { maskSource, type MaskedSource } from "./maskSource.ts";

// The codebase as the rules read it: every path, and each TypeScript file's layers and imports. Files are read as text
// and never executed, so the rules also check files that do not load.

export type ImportStatement = {
  /** As written: "./store.ts", "kysely". */
  readonly specifier: string;
  /** The path that a relative specifier resolves to; undefined for a package. */
  readonly target: string | undefined;
  readonly line: number;
  readonly reExports: boolean;
  /** Whether the import is erased before the code runs. */
  readonly typeOnly: boolean;
};

export type Source = {
  readonly path: string;
  /** As written, comments included. */
  readonly text: string;
  readonly lines: number;
  readonly masked: MaskedSource;
  readonly imports: readonly ImportStatement[];
};

export type Codebase = {
  /** Every file, relative to the root, with forward slashes. */
  readonly paths: readonly string[];
  readonly sources: readonly Source[];
  /** The texts of Markdown files and package manifests. */
  readonly documents: ReadonlyMap<string, string>;
};

/** A broken rule, with the fix in its message. */
export type Violation = { readonly path: string; readonly line?: number; readonly message: string };

const FOLDERS = ["src", "packages", "test", "scripts", "docs", "examples", "bin"];
const SKIPPED = new Set(["node_modules", "dist", "out", "cache"]);
const FOLDER_DEPTH_MAX = 12;

const IMPORTS = [
  /\b(?<verb>import|export)\s+(?:type\s+)?(?:\*(?:\s+as\s+[\w$]+)?|[\w$\s,]*\{[^}]*\}|[\w$]+(?:\s*,\s*\*\s+as\s+[\w$]+)?)\s*from\s*["'](?<specifier>[^"'\n]+)["']/g,
  /\b(?<verb>import)\s*["'](?<specifier>[^"'\n]+)["']/g,
  /\b(?<verb>import)\s*\(\s*["'`](?<specifier>[^"'`\n]+)["'`]/g,
];

/** Reads the existing folders of FOLDERS below `root`, and the `documents` beside them. */
export function readCodebase(root: string, documents: readonly string[] = []): Codebase {
  const paths = [...FOLDERS.flatMap((folder) => filesBelow(root, folder, FOLDER_DEPTH_MAX)), ...documents].toSorted();
  const isRead = (path: string) => isSource(path) || isDocument(path);
  return createCodebase(paths.map((path) => [path, isRead(path) ? readFileSync(join(root, path), "utf8") : ""]));
}

/** Creates a codebase from paths and texts; the rules' tests build small ones. */
export function createCodebase(files: Iterable<readonly [path: string, text: string]>): Codebase {
  const all = [...files];
  return {
    paths: all.map(([path]) => path),
    sources: all.filter(([path]) => isSource(path)).map(([path, text]) => parseSource(path, text)),
    documents: new Map(all.filter(([path]) => isDocument(path))),
  };
}

export function isTest(path: string): boolean {
  return path.endsWith(".test.ts") || path.startsWith("test/") || /^packages\/[^/]+\/test\//.test(path);
}

/** The running service's files, which the behaviour rules read. */
export function productionSources(codebase: Codebase): Source[] {
  return codebase.sources.filter((source) => source.path.startsWith("src/") && !isTest(source.path));
}

export function lineNumberAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

function parseSource(path: string, text: string): Source {
  const masked = maskSource(text);
  return { path, text, lines: text.replace(/\n$/, "").split("\n").length, masked, imports: parseImports(path, masked) };
}

function parseImports(path: string, layers: MaskedSource): ImportStatement[] {
  const found: ImportStatement[] = [];
  for (const pattern of IMPORTS) {
    for (const match of layers.withoutComments.matchAll(pattern)) {
      const { verb = "", specifier = "" } = match.groups ?? {};
      // The match may be inside a string, as in the rules' own tests.
      if (!layers.code.startsWith(verb, match.index)) continue;
      found.push({
        specifier,
        target: specifier.startsWith(".") ? posix.join(posix.dirname(path), specifier) : undefined,
        line: lineNumberAt(layers.code, match.index),
        reExports: verb === "export",
        typeOnly: /^\w+\s+type\b/.test(match[0]),
      });
    }
  }
  return found.toSorted((a, b) => a.line - b.line);
}

function isSource(path: string): boolean {
  return path.endsWith(".ts") && !path.endsWith(".d.ts");
}

function isDocument(path: string): boolean {
  return path.endsWith(".md") || path.endsWith("package.json");
}

function filesBelow(root: string, folder: string, depthLeft: number): string[] {
  if (depthLeft === 0) throw new Error(`Folders are nested too deeply below ${folder}`);
  return entriesOf(join(root, folder)).flatMap((entry) => {
    const path = `${folder}/${entry.name}`.split(sep).join("/");
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : filesBelow(root, path, depthLeft - 1);
    return entry.isFile() ? [path] : [];
  });
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
