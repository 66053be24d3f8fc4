import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, symlink, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { stage } from "../scripts/stage.ts";

let root: string;
let installed: string;

before(async () => {
  root = await mkdtemp(join(tmpdir(), "tributary-inbox-"));
  installed = join(root, "node_modules", "@tributary", "inbox");
  await stage(installed);
  const require = createRequire(import.meta.url);
  const dependency = join(root, "node_modules", "@noble");
  await mkdir(dependency);
  await symlink(dirname(require.resolve("@noble/hashes/sha3")), join(dependency, "hashes"));
});

after(async () => {
  await rm(root, { recursive: true, force: true });
});

test("the published package verifies an inbox from within node_modules", async () => {
  const program = `
    import { readFile } from "node:fs/promises";
    import { computeInboxAddress } from "@tributary/inbox/address";
    import { hubs } from "@tributary/inbox/hubs";
    const path = new URL(import.meta.resolve("@tributary/inbox/vectors.json"));
    const vectors = JSON.parse(await readFile(path, "utf8"));
    for (const [index, { inboxes }] of [vectors, ...vectors.laterHubs].entries()) {
      const [{ terms, inboxAddress: expected }] = inboxes;
      const address = computeInboxAddress({ ...terms, settleChainId: BigInt(terms.settleChainId) }, hubs[index]);
      console.log(address === expected.toLowerCase());
    }
  `;
  const parameters = ["--no-experimental-strip-types", "--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: root });
  assert.equal(stdout, "true\ntrue\n");
});

test("every export of the published package exists, with its types", async () => {
  const manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
    exports: Record<string, string | { types: string; default: string }>;
  };
  const targets = Object.values(manifest.exports).flatMap((target) =>
    typeof target === "string" ? [target] : [target.types, target.default],
  );
  assert.ok(targets.length > 20);
  for (const target of targets) assert.ok((await readFile(join(installed, target), "utf8")).length > 0);
});
