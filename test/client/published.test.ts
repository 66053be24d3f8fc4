import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { stage } from "../../packages/client/scripts/stage.ts";
import { testApi } from "../support/api.ts";

let root: string;
let installed: string;

before(async () => {
  root = await mkdtemp(join(tmpdir(), "tributary-client-"));
  installed = join(root, "node_modules", "@tributary", "client");
  await stage(installed);
});

after(async () => {
  await rm(root, { recursive: true, force: true });
});

/** This repository's Node.js, and older system installations. */
const nodes = [process.execPath, "/usr/bin/node", "/usr/local/bin/node"].filter((path) => existsSync(path));

test("the published package works over a socket outside this repository", async () => {
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
  for (const node of nodes) {
    const parameters = ["--input-type=module", "--eval", program, baseUrl, apiKey];
    const { stdout } = await promisify(execFile)(node, parameters, { cwd: root });
    assert.equal(stdout, "true true not_found\n", node);
  }
});

test("every export of the published client exists with its types", async () => {
  const manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
    exports: Record<string, { types: string; default: string }>;
  };
  const targets = Object.values(manifest.exports).flatMap((target) => [target.types, target.default]);
  assert.equal(targets.length, 8);
  for (const target of targets) assert.ok((await readFile(join(installed, target), "utf8")).length > 0);
});
