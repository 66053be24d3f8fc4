import { globSync } from "node:fs";
import { matchesGlob } from "node:path";
import type { TestGroup, TestJob, TestRunSetup } from "./groups.ts";

const TEST_FILES = "**/*.test.ts";
const NO_SOURCES = ["**/node_modules/**", "**/dist/**", "**/.*/**", "contracts/out/**", "contracts/cache/**"];

export type JobSelection = {
  root: string;
  /** Files, folders and globs; all files but those of the deep tests when empty. */
  paths: readonly string[];
  /** Gives each file its own process, whatever its group says. */
  isolatesFiles: boolean;
};

/**
 * The processes of a run, the longest first. Throws for a file without a group, and for a path that selects no file.
 */
export function planJobs(setup: TestRunSetup, { root, paths, isolatesFiles }: JobSelection): TestJob[] {
  const byGroup = assignGroups(setup, findTestFiles(root));
  assertCostsAreKnown(setup, byGroup);
  const selectors = paths.map(normalizePath);
  const unused = selectors.filter((path) => [...byGroup.values()].flat().every((file) => !selects(path, file)));
  if (unused.length > 0) throw new Error(`No test file matches ${unused.join(", ")}.`);
  const isDeep = (file: string) => Object.hasOwn(setup.deepFiles ?? {}, file);
  const isSelected = (file: string) =>
    selectors.length === 0 ? !isDeep(file) : selectors.some((path) => selects(path, file));
  return [...byGroup]
    .flatMap(([group, files]) => jobsOf(group, files.filter(isSelected), { setup, isolatesFiles }))
    .toSorted((one, other) => other.seconds - one.seconds);
}

function findTestFiles(root: string): string[] {
  return globSync(TEST_FILES, { cwd: root, exclude: NO_SOURCES }).toSorted();
}

function assignGroups({ groups }: TestRunSetup, files: readonly string[]): Map<TestGroup, string[]> {
  const byGroup = new Map<TestGroup, string[]>(groups.map((group) => [group, []]));
  const forgotten: string[] = [];
  for (const file of files) {
    // The first matching group owns the file, so that a shared group can take files out of a folder.
    const group = groups.find((each) => each.files.some((pattern) => matchesGlob(file, pattern)));
    if (group === undefined) forgotten.push(file);
    else byGroup.get(group)?.push(file);
  }
  if (forgotten.length > 0) throw new Error(`No group of test/testGroups.ts has ${forgotten.join(", ")}.`);
  const empty = groups.filter((group) => byGroup.get(group)?.length === 0).map(({ name }) => name);
  if (empty.length > 0) throw new Error(`These groups of test/testGroups.ts have no file: ${empty.join(", ")}.`);
  return byGroup;
}

function assertCostsAreKnown({ slowSeconds, deepFiles }: TestRunSetup, byGroup: Map<TestGroup, string[]>): void {
  const known = new Set([...[...byGroup.keys()].map(({ name }) => name), ...[...byGroup.values()].flat()]);
  const stale = Object.keys(slowSeconds).filter((name) => !known.has(name));
  if (stale.length > 0)
    throw new Error(`slowSeconds of test/testGroups.ts names no file or group: ${stale.join(", ")}.`);
  const gone = Object.keys(deepFiles ?? {}).filter((name) => !known.has(name));
  if (gone.length > 0) throw new Error(`test/deepFiles.ts names no file: ${gone.join(", ")}.`);
}

type JobOptions = { setup: TestRunSetup; isolatesFiles: boolean };

function jobsOf(group: TestGroup, files: string[], { setup: { slowSeconds }, isolatesFiles }: JobOptions): TestJob[] {
  if (files.length === 0) return [];
  const { name, isShared = false, preload = [] } = group;
  if (isShared && !isolatesFiles) return [{ name, files, preload, seconds: slowSeconds[name] ?? 0 }];
  return files.map((file) => ({ name: file, files: [file], preload: [], seconds: slowSeconds[file] ?? 0 }));
}

function normalizePath(path: string): string {
  return path.replace(/^\.\//, "").replace(/\/+$/, "");
}

function selects(path: string, file: string): boolean {
  return path === file || file.startsWith(`${path}/`) || matchesGlob(file, path);
}
