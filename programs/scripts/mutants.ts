import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { reportPlantedBugs } from "../../scripts/tests/reportPlantedBugs.ts";
import { compile, programsDirectory } from "./compile.ts";
import { mutations } from "./mutations.ts";
import type { Mutation } from "./mutations.ts";

// Plants one bug after the other in a copy of the program and checks that a test fails. A bug that passes shows a
// missing test: npm run mutants:programs [-- part of a name] [-- --part 1/4]. It needs clang-19.

const FILES_QUICK = [
  "settle",
  "settleThefts",
  "bridge",
  "bridgeThefts",
  "bridgeFurther",
  "bridgeHold",
  "rescue",
  "rescueLamports",
  "reclaim",
  "unnest",
  "extensions",
];
/** Only when the quick ones pass. */
const FILES_SLOW = ["exactAmounts", "addresses", "thief", "fuzz"];

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Compiles the program with one bug. Throws for a bug that does not compile, because it proves nothing. */
export async function compileMutant({ file, search, replace, name }: Mutation): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-mutant-"));
  try {
    await mkdir(join(folder, "src"));
    await cp(join(programsDirectory, "src"), join(folder, "src"), { recursive: true });
    const path = join(folder, "src", file);
    const source = await readFile(path, "utf8");
    await writeFile(
      path,
      source.replace(search, () => replace),
    );
    // A bug may leave something unused, and the compiler's warning must not be what catches it.
    return await compile("inbox", { directory: folder, flags: ["-Wno-error"] });
  } catch (error) {
    throw new Error(`"${name}" does not compile`, { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The first test that fails with this program; undefined when all pass. */
export async function findFailure(program: Buffer, files: readonly string[]): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "tributary-mutant-"));
  try {
    const path = join(folder, "inbox.so");
    await writeFile(path, program);
    const tests = files.map((file) => join(programsDirectory, "test", `${file}.test.ts`));
    const parameters = ["--test", "--test-isolation=none", "--test-reporter=tap", ...tests];
    return await new Promise((resolve) => {
      const environment = {
        ...process.env,
        TRIBUTARY_INBOX_PROGRAM: path,
        TRIBUTARY_FUZZ_ROUNDS: "6000",
        NODE_TEST_CONTEXT: undefined,
      };
      const options = { cwd: root, env: environment, maxBuffer: 2 ** 26 };
      execFile(process.execPath, parameters, options, (error, stdout) => {
        const failed = /^\s*not ok \d+ - (?<name>.*)$/m.exec(stdout)?.groups?.["name"];
        resolve(error === null ? undefined : (failed ?? "a test file"));
      });
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function findKiller(mutation: Mutation): Promise<string | undefined> {
  const program = await compileMutant(mutation);
  return (await findFailure(program, FILES_QUICK)) ?? findFailure(program, FILES_SLOW);
}

function choose(words: readonly string[]): readonly Mutation[] {
  const part = /^(?<number>\d+)\/(?<count>\d+)$/.exec(words[words.indexOf("--part") + 1] ?? "")?.groups;
  if (words.includes("--part") && part !== undefined)
    return mutations.filter((_, index) => index % Number(part["count"]) === Number(part["number"]) - 1);
  return mutations.filter(({ name }) => name.includes(words[0] ?? ""));
}

if (import.meta.main)
  await reportPlantedBugs(choose(process.argv.slice(2)), {
    find: findKiller,
    titleOf: ({ file, name }) => `${file.padEnd(10)} ${name}`,
  });
