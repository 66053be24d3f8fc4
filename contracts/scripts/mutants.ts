import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { reportPlantedBugs } from "../../scripts/tests/reportPlantedBugs.ts";
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

async function main(part: string): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), "tributary-mutants-"));
  try {
    const chosen = mutations.filter(({ name }) => name.includes(part));
    const first = await copyContracts(root);
    await assertTestsPass(first);
    const idle = [first];
    // With what the first has compiled.
    while (idle.length < Math.min(COPIES, chosen.length)) {
      const copy = join(root, `contracts${idle.length}`);
      await cp(first, copy, { recursive: true, preserveTimestamps: true });
      idle.push(copy);
    }
    const find = async (mutation: Mutation) => {
      const copy = idle.pop() ?? first;
      const failed = await runMutation(copy, mutation);
      idle.push(copy);
      return formatResult(failed);
    };
    await reportPlantedBugs(chosen, {
      find,
      workers: idle.length,
      titleOf: ({ file, name }) => `${file.padEnd(18)} ${name}`,
    });
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

/** The tests that fail with the bug. */
async function runMutation(copy: string, mutation: Mutation): Promise<string[]> {
  const path = join(copy, "src", mutation.file);
  const source = await readFile(path, "utf8");
  await writeFile(
    path,
    source.replace(mutation.search, () => mutation.replace),
  );
  const failed: string[] = [];
  for (const parameters of forgeSuites) {
    if (failed.length > 0) break;
    const { exitCode, output } = await runForge(parameters, copy);
    if (exitCode !== 0) failed.push(...failedTests(output, mutation));
  }
  await writeFile(path, source);
  return failed;
}

/**
 * Returns the failed tests. Throws when forge failed without one, because a bug that does not compile proves nothing.
 */
function failedTests(output: string, mutation: Mutation): string[] {
  const names = [...output.matchAll(/^\[FAIL.*?\] (\w+)\(/gms)].map(([, name]) => name ?? "");
  if (names.length === 0) throw new Error(`"${mutation.name}" does not compile:\n${output}`);
  return [...new Set(names)];
}

function formatResult([first, ...others]: readonly string[]): string | undefined {
  return first === undefined || others.length === 0 ? first : `${first} and ${others.length} more`;
}

await main(process.argv[2] ?? "");
