import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { readProgram, renderGenerated } from "../scripts/build.ts";
import { compile, isCompilerInstalled, PROGRAM_NAMES } from "../scripts/compile.ts";
import { murmur3 } from "../scripts/murmur3.ts";
import { pack } from "../scripts/pack.ts";

const isInstalled = await isCompilerInstalled();
const skip = isInstalled ? false : "clang-19 is not installed, so the committed programs were not rebuilt";

for (const name of PROGRAM_NAMES) {
  test(`a fresh build of ${name} is the committed program to the byte`, { skip }, async () => {
    const [built, committed] = await Promise.all([compile(name), readProgram(name)]);
    assert.ok(built.equals(committed), `${name}.so is out of date: run node programs/scripts/build.ts`);
  });
}

test("hash, address and code in the package belong to the committed program", async () => {
  const generated = renderGenerated(await readProgram("inbox"));
  assert.equal(generated.size, 3);
  for (const [path, text] of generated)
    assert.equal(await readFile(path, "utf8"), text, `${path} is out of date: run node programs/scripts/build.ts`);
});

test("system calls are named by murmur3", () => {
  // From the runtime's sources.
  assert.equal(murmur3("abort"), 0xb6fc1a11);
  assert.equal(murmur3("sol_log_"), 0x207559bd);
  assert.equal(murmur3("sol_sha256"), 0x11f49d86);
});

test("the packer refuses what SBPF v3 would run differently", { skip }, async () => {
  await assert.rejects(compileFlags("-mcpu=v3"), /32-bit operation/);
  const program = await readProgram("inbox");
  assert.throws(() => pack(program), /section|range|offset/i);
});

/** The last -mcpu counts. */
async function compileFlags(...flags: string[]): Promise<Buffer> {
  return compile("inbox", { flags });
}
