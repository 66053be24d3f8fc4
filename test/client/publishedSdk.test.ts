import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { stage as stageInbox } from "../../packages/inbox/scripts/stage.ts";
import { stage as stageReact } from "../../packages/react/scripts/stage.ts";
import { stage as stageSdk } from "../../packages/sdk/scripts/stage.ts";

// What `npm pack` makes of the packages for pages, installed in a fresh folder.

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const NOBLE = "@noble/hashes";
const PACKAGES = { inbox: stageInbox, sdk: stageSdk, react: stageReact };

let root: string;
let installed: string;

before(async () => {
  root = await mkdtemp(join(tmpdir(), "tributary-sdk-"));
  installed = join(root, "node_modules", "@tributary");
  for (const [name, stage] of Object.entries(PACKAGES)) {
    const staged = join(root, "staged", name);
    await stage(staged);
    const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", root], { cwd: staged });
    const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
    await mkdir(join(installed, name), { recursive: true });
    await run("tar", ["-xzf", join(root, filename), "-C", join(installed, name), "--strip-components=1"]);
  }
  for (const name of ["react", "@types/react", "csstype", NOBLE]) await link(name);
});

after(async () => {
  await rm(root, { recursive: true, force: true });
});

/** Copies a dependency of the workspace, as a registry would deliver it. */
async function link(name: string): Promise<void> {
  const to = join(root, "node_modules", name);
  // This one exports no package.json.
  const from = name === NOBLE ? dirname(require.resolve(`${NOBLE}/sha3`)) : packageOf(name);
  await mkdir(dirname(to), { recursive: true });
  await run("cp", ["-rL", from, to]);
}

function packageOf(name: string): string {
  return dirname(
    createRequire(new URL("../../packages/react/package.json", import.meta.url)).resolve(`${name}/package.json`),
  );
}

test("every packed package names only files that it has, with types, and no path of the workspace", async () => {
  for (const name of Object.keys(PACKAGES)) {
    const text = await readFile(join(installed, name, "package.json"), "utf8");
    assert.doesNotMatch(text, /workspace:|\.\.\/|\/src\//);
    const manifest = JSON.parse(text) as { exports: Record<string, string | { types: string; default: string }> };
    const targets = Object.values(manifest.exports).flatMap((each) =>
      typeof each === "string" ? [each] : [each.types, each.default],
    );
    for (const target of targets) assert.ok((await readFile(join(installed, name, target), "utf8")).length > 0, target);
  }
});

test("the packed packages run on a server, where mount does nothing, and verify an address", async () => {
  const program = `
    import { readFile } from "node:fs/promises";
    import { configure, mount } from "@tributary/sdk";
    import { expectPayout } from "@tributary/sdk/verify";
    import "@tributary/sdk/element";
    import { Checkout } from "@tributary/react";
    configure({ baseUrl: "https://pay.example" });
    const checkout = mount("pi_1");
    checkout.on("paid", () => {})();
    checkout.update({ theme: "dark" });
    checkout.unmount();
    const check = expectPayout({ payoutWallet: "0x1", token: "0x2", chainId: 1, feeBpsMax: 0 });
    const terms = {};
    console.log(typeof Checkout, check({ terms, inboxes: [] }), check({ terms, inboxes: [{ namespace: "eip155", address: "0x3" }] }));
    try { mount("order 1"); } catch (error) { console.log(error.message); }
  `;
  const parameters = ["--no-experimental-strip-types", "--input-type=module", "--eval", program];
  const { stdout } = await run(process.execPath, parameters, { cwd: root });
  assert.equal(stdout, "function false false\nintentId must be an intent's id, not order 1\n");
});

test("the packed types compile in a strict program, with both ways of resolution", async () => {
  const source = `
    import { configure, mount, type Checkout, type MountOptions } from "@tributary/sdk";
    import { expectPayout } from "@tributary/sdk/verify";
    import { Checkout as Component } from "@tributary/react";
    configure({ baseUrl: "https://pay.example" });
    const options: MountOptions = { intentId: "pi_1", onPaid: ({ stage }) => { const paid: "paid" | "overpaid" = stage; void paid; } };
    const checkout: Checkout = mount({ ...options, expectedPayout: expectPayout({ payoutWallet: "0x1", token: "0x2", chainId: 1, feeBpsMax: 0 }) });
    checkout.on("error", ({ code }) => { const known: string = code; void known; });
    // @ts-expect-error the id is required
    mount({ target: "#pay" });
    void Component;
  `;
  await writeFile(join(root, "program.mts"), source);
  const compiler = join(dirname(require.resolve("typescript/package.json")), "bin", "tsc");
  for (const [moduleKind, resolution] of [
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ] as const) {
    const options = [
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "false",
      "--target",
      "es2022",
      "--lib",
      "es2022,dom",
      "--types",
      "",
    ];
    await run(
      process.execPath,
      [compiler, ...options, "--module", moduleKind, "--moduleResolution", resolution, "program.mts"],
      { cwd: root },
    );
  }
});
