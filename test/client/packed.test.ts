import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { glob, readFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { dirname, join, normalize } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { testApi } from "../support/api.ts";
import {
  installPackages,
  PUBLISHED,
  type InstalledPackages,
  type PublishedPackage,
} from "../support/packedPackages.ts";

// Every package as a stranger gets it: packed, installed by npm in a fresh folder, imported and type-checked there.

let installed: InstalledPackages;
before(async () => {
  installed = await installPackages(PUBLISHED);
});
after(() => installed.remove());

/** This repository's Node.js, and an older one of the machine. */
const NODES = [process.execPath, "/usr/bin/node"].filter((path) => existsSync(path));
const IMPORT = /(?:\bfrom|\bimport\(?)\s*"([^"]+)"/g;

async function filesOf(name: PublishedPackage): Promise<string[]> {
  const files = await Array.fromAsync(glob("**/*", { cwd: installed.folderOf(name), withFileTypes: true }));
  const folder = installed.folderOf(name);
  return files.filter((file) => file.isFile()).map((file) => join(file.parentPath, file.name).slice(folder.length + 1));
}

const read = (name: PublishedPackage, path: string) => readFile(join(installed.folderOf(name), path), "utf8");

for (const name of PUBLISHED) {
  test(`@tributary/${name}: the manifest names files of the package alone, its types first, and nothing of the workspace`, async () => {
    const manifest = await installed.readManifest(name);
    assert.doesNotMatch(JSON.stringify(manifest), /workspace:|file:|link:|\.\.\/|\/src\//);
    assert.deepEqual(
      [manifest["private"], manifest["scripts"], manifest["devDependencies"], manifest["publishConfig"]],
      [false, undefined, undefined, { access: "public" }],
    );
    const files = await filesOf(name);
    for (const needed of ["LICENSE", "README.md", "CHANGELOG.md"]) assert.ok(files.includes(needed), needed);
    for (const [subpath, target] of Object.entries(manifest.exports)) {
      if (typeof target === "string") assert.match(target, /\.json$/, subpath);
      else assert.deepEqual(Object.keys(target), ["types", "default"], subpath);
      for (const path of typeof target === "string" ? [target] : Object.values(target))
        assert.ok(files.includes(path.replace(/^\.\//, "")), `${subpath} names ${path}`);
    }
    assert.match(await read(name, "CHANGELOG.md"), new RegExp(`^## ${String(manifest["version"])}$`, "m"));
  });

  test(`@tributary/${name}: every import is a file of the package or of a declared dependency`, async () => {
    const manifest = await installed.readManifest(name);
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
    const files = await filesOf(name);
    assert.deepEqual(
      files.filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts")),
      [],
    );
    for (const path of files.filter((each) => /\.(?:d\.ts|js)$/.test(each))) {
      for (const [, specifier = ""] of (await read(name, path)).matchAll(IMPORT)) {
        const label = `${path} imports ${specifier}`;
        if (specifier.startsWith(".")) {
          assert.match(specifier, /\.js$/, label);
          const target = normalize(join(dirname(path), specifier));
          assert.ok(files.includes(path.endsWith(".d.ts") ? target.replace(/js$/, "d.ts") : target), label);
        } else {
          const [scope = "", second = ""] = specifier.split("/");
          const foreign = scope.startsWith("@") ? `${scope}/${second}` : scope;
          assert.ok(declared.includes(foreign) || builtinModules.includes(specifier.replace(/^node:/, "")), label);
        }
      }
    }
  });
}

async function allSubpaths(): Promise<{ subpath: string; isJson: boolean }[]> {
  const lists = await Promise.all(
    PUBLISHED.map(async (name) =>
      Object.entries((await installed.readManifest(name)).exports).map(([subpath, target]) => ({
        subpath: `@tributary/${name}${subpath.slice(1)}`,
        isJson: typeof target === "string",
      })),
    ),
  );
  return lists.flat();
}

test("every export of every package is imported by Node, and has types for node16 and for bundlers", async () => {
  const subpaths = await allSubpaths();
  assert.ok(subpaths.length > 40, String(subpaths.length));
  const source = subpaths
    .map(({ subpath, isJson }, index) =>
      isJson ? `import e${index} from "${subpath}" with { type: "json" };` : `import * as e${index} from "${subpath}";`,
    )
    .join("\n");
  const names = subpaths.map((_, index) => `e${index}`);
  for (const node of NODES) {
    assert.equal(
      await installed.runModule(`${source}\nconsole.log([${names.join(", ")}].length);`, { node }),
      `${names.length}\n`,
    );
  }
  const use = names.map(
    (each) => `{ const isUntyped: 0 extends 1 & typeof ${each} ? true : false = false; void isUntyped; }`,
  );
  // With node16 a JSON module needs a newer module kind.
  const typed = source.replaceAll(/^import .* with \{ type: "json" \};$/gm, (line) => line.replace(/ with .*/, ";"));
  await installed.compile([source, ...use].join("\n"), "bundler");
  const modules = subpaths.flatMap(({ isJson }, index) => (isJson ? [] : [index]));
  const lines = typed.split("\n");
  await installed.compile(modules.flatMap((index) => [lines[index], use[index]]).join("\n"), "node16");
});

test("a package for pages needs none of the others", async () => {
  const alone = await installPackages(["sdk"]);
  try {
    const program = `import { configure, mount, type MountOptions } from "@tributary/sdk";
      import "@tributary/sdk/element";
      configure({ baseUrl: "https://pay.example" });
      const options: MountOptions = { intentId: "pi_1", expectedPayout: ({ terms, inboxes }) => "payout" in terms && inboxes.length > 0 };
      mount(options).unmount();`;
    for (const resolution of ["node16", "bundler"] as const) await alone.compile(program, resolution);
    assert.equal(
      await alone.runModule('import { mount } from "@tributary/sdk"; console.log(typeof mount);'),
      "function\n",
    );
  } finally {
    await alone.remove();
  }
});

test("the packed client works over a socket", async () => {
  const api = await testApi();
  const { apiKey } = await api.openMerchant();
  const baseUrl = await api.server.listen({ host: "127.0.0.1", port: 0 });
  const program = `
    import { createClient } from "@tributary/client";
    import { TributaryError } from "@tributary/client/errors";
    import { paginate } from "@tributary/client/paginate";
    const [baseUrl, apiKey] = process.argv.slice(1);
    const tributary = createClient({ baseUrl: baseUrl + "/", apiKey });
    const { intentId } = await tributary.createPaymentIntent({ priceUnits: 5 });
    const ids = [];
    for await (const intent of paginate(tributary.listPaymentIntents, { limit: 1 })) ids.push(intent.intentId);
    const error = await tributary.getPaymentIntent("pi_unknown").catch((reason) => reason);
    console.log(ids.includes(intentId), error instanceof TributaryError, error.code);
  `;
  for (const node of NODES)
    assert.equal(
      await installed.runModule(program, { node, parameters: [baseUrl, apiKey] }),
      "true true not_found\n",
      node,
    );
});

test("the packed SDK runs on a server, where mount does nothing, and verifies an address", async () => {
  const program = `
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
  const expected = "function false false\nintentId must be an intent's id, not order 1\n";
  for (const node of NODES) assert.equal(await installed.runModule(program, { node }), expected, node);
});

test("a strict program against the packed types compiles, and a wrong one does not", async () => {
  const source = `
    import { createClient } from "@tributary/client";
    import type { Account } from "@tributary/client/types";
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
    const client = createClient({ baseUrl: "https://pay.example", apiKey: "trib_test" });
    export const account: Promise<Account> = client.updateAccount({ brand: { accent: "#7a1f3d" } });
    // @ts-expect-error origins are a list
    void client.replacePageOrigins({ origins: "https://shop.example" });
  `;
  for (const resolution of ["node16", "bundler"] as const) await installed.compile(source, resolution);
});

test("the sources of a package cannot be packed by mistake", async () => {
  for (const name of PUBLISHED) {
    const cwd = fileURLToPath(new URL(`../../packages/${name}`, import.meta.url));
    const refused = promisify(execFile)("npm", ["pack", "--dry-run"], { cwd });
    await assert.rejects(refused, /Pack the build, not the sources: npm run stage -w @tributary\//);
  }
});
