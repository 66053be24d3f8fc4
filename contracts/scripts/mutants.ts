import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { contractsDirectory, runForge } from "./forge.ts";
import { mutations } from "./mutations.ts";
import type { Mutation } from "./mutations.ts";

// Plants one bug after the other in a copy of the contracts and checks that a test fails. A bug that passes shows a
// missing test. All take less than ten minutes on two idle cores: npm run mutants:contracts [part of a name].

/** Copies that are tested at once. The compiler uses one core. */
const COPIES = 2;

/** The test runs for a planted bug: the unit tests first, and the invariants only when those pass. */
const forgeSuites: readonly (readonly string[])[] = [
  ["test", "--fail-fast", "--fuzz-runs", "32", "--no-match-path", "test/{invariants/*,GasLimits.t.sol}"],
  ["test", "--fail-fast", "--match-path", "test/invariants/*"],
];

type MutantResult = { readonly caughtBy: readonly string[]; readonly seconds: number };

async function main(part: string): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), "tributary-mutants-"));
  try {
    const startedMs = performance.now();
    const survivors: string[] = [];
    const chosen = mutations.filter(({ name }) => name.includes(part));
    const waiting = chosen.values();
    const first = await copyContracts(root);
    await assertTestsPass(first);
    const testCopy = async (copy: string) => {
      for (const mutation of waiting) {
        const { caughtBy, seconds } = await runMutation(copy, mutation);
        if (caughtBy.length === 0) survivors.push(mutation.name);
        console.log(formatRow([mutation.file, mutation.name, formatResult(caughtBy), `${seconds.toFixed(0)} s`]));
      }
    };
    const copies = [first];
    // With what the first has compiled.
    while (copies.length < Math.min(COPIES, chosen.length)) {
      const copy = join(root, `contracts${copies.length}`);
      await cp(first, copy, { recursive: true, preserveTimestamps: true });
      copies.push(copy);
    }
    await Promise.all(copies.map(testCopy));
    const minutes = (performance.now() - startedMs) / 60_000;
    console.log(
      `\n${chosen.length} bugs planted, ${chosen.length - survivors.length} caught in ${minutes.toFixed(1)} minutes.`,
    );
    for (const name of survivors) console.error(`Not caught: ${name}`);
    if (survivors.length > 0) process.exitCode = 1;
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function copyContracts(root: string): Promise<string> {
  const copy = join(root, "contracts");
  await mkdir(copy);
  for (const name of ["src", "test", "scripts"])
    await cp(join(contractsDirectory, name), join(copy, name), { recursive: true });
  const settings = await readFile(join(contractsDirectory, "foundry.toml"), "utf8");
  // A bug may leave a variable unused, and the compiler's warning must not be what catches it. Compiling via IR takes
  // ten times as long and behaves the same.
  const quick = settings.replace('deny = "warnings"\n', "").replaceAll("via_ir = true", "via_ir = false");
  await writeFile(join(copy, "foundry.toml"), quick);
  const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));
  await symlink(modules, join(root, "node_modules"));
  await writeFile(join(root, "package.json"), '{ "type": "module" }\n');
  return copy;
}

async function assertTestsPass(copy: string): Promise<void> {
  for (const parameters of forgeSuites) {
    const { exitCode, output } = await runForge(parameters, copy);
    if (exitCode !== 0) throw new Error(`the tests fail without a planted bug:\n${output}`);
  }
}

async function runMutation(copy: string, mutation: Mutation): Promise<MutantResult> {
  const path = join(copy, "src", mutation.file);
  const source = await readFile(path, "utf8");
  const startedMs = performance.now();
  await writeFile(
    path,
    source.replace(mutation.search, () => mutation.replace),
  );
  const caughtBy: string[] = [];
  for (const parameters of forgeSuites) {
    if (caughtBy.length > 0) break;
    const { exitCode, output } = await runForge(parameters, copy);
    if (exitCode !== 0) caughtBy.push(...failedTests(output, mutation));
  }
  await writeFile(path, source);
  return { caughtBy, seconds: (performance.now() - startedMs) / 1000 };
}

/**
 * Returns the failed tests. Throws when forge failed without one, because a bug that does not compile proves nothing.
 */
function failedTests(output: string, mutation: Mutation): string[] {
  const names = [...output.matchAll(/^\[FAIL.*?\] (\w+)\(/gms)].map(([, name]) => name ?? "");
  if (names.length === 0) throw new Error(`"${mutation.name}" does not compile:\n${output}`);
  return [...new Set(names)];
}

function formatResult([first, ...others]: readonly string[]): string {
  if (first === undefined) return "NOT CAUGHT";
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

function formatRow([file = "", name = "", result = "", seconds = ""]: readonly string[]): string {
  return `${file.padEnd(18)} ${name.padEnd(48)} ${seconds.padStart(5)}  ${result}`;
}

await main(process.argv[2] ?? "");
