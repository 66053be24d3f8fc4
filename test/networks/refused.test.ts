import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { readConfig } from "../../src/config/loadConfig.ts";
import { REFUSED_NETWORKS } from "../../src/config/networks/refused.ts";
import { runCli } from "../support/cli.ts";

// Networks that need another kind of chain are refused by the configuration and by each command that names one.

const sample = JSON.parse(readFileSync(new URL("../../config/testnets.json", import.meta.url), "utf8")) as {
  chains: [object, ...object[]];
};

for (const { chainId, slug, name } of REFUSED_NETWORKS) {
  test(`${name} is refused with one sentence that names the document`, async () => {
    const config = { ...sample, chains: [{ ...sample.chains[0], chainId }] };
    const sentence = new RegExp(
      `^chains\\[0\\]\\.chainId: ${name} \\(${chainId}\\) needs another kind of chain than this release has: [^.]*; see (\\S+)\\.$`,
    );
    assert.throws(
      () => readConfig(config, { variables: {}, directory: "/srv", keys: "optional" }),
      (error: Error) => {
        const page = sentence.exec(error.message)?.[1] ?? assert.fail(error.message);
        assert.ok(existsSync(new URL(`../../${page}`, import.meta.url)), page);
        return error.name === "ConfigError";
      },
    );
    const shown = await runCli(["networks", "show", slug]);
    assert.deepEqual([shown.code, shown.out], [1, ""]);
    assert.match(shown.err, new RegExp(`^error: ${name} \\(${chainId}\\) needs another kind of chain`));
  });
}

test("networks list names every network, and networks show the source and date of each field", async () => {
  const list = await runCli(["networks", "list"]);
  assert.equal(list.code, 0);
  assert.ok(list.out.split("\n").every((line) => line.length <= 110));
  assert.match(list.out, /^base +8453 +Base +USDC EURC +8 s +13 min to 19 min +20 min$/m);
  const show = await runCli(["networks", "show", "Arbitrum One"]);
  assert.match(show.out, /^USDC +0xaf88d065e77c8cC2239327C5EDb3A432268e5831, 6 decimals +issuer$/m);
  assert.match(show.out, /^issuer +\d{4}-\d\d-\d\d +@circle-fin\/bridge-kit \S+ \(Apache-2\.0\)$/m);
  const { networks } = JSON.parse((await runCli(["networks", "list", "--json", "--environment", "live"])).out) as {
    networks: { environment: string }[];
  };
  assert.ok(networks.length > 20 && networks.every(({ environment }) => environment === "live"));
  assert.match((await runCli(["networks", "list", "--environment", "prod"])).err, /must be live or test, not prod/);
});
