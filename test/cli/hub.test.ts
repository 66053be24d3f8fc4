import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { runCli, temporaryFolder } from "../support/cli.ts";

// The hub commands while no chain answers.

const folder = temporaryFolder();
after(() => folder.remove());
const KEY = `0x${"1a".repeat(32)}`;
const KEYS = { TRIBUTARY_GAS_KEY_BASE_SEPOLIA: KEY, TRIBUTARY_GAS_KEY_SEPOLIA: KEY, TRIBUTARY_HOME: folder.path };

const sample = JSON.parse(readFileSync(new URL("../../config/testnets.json", import.meta.url), "utf8")) as {
  chains: object[];
};
const config = join(folder.path, "config.json");
writeFileSync(
  config,
  JSON.stringify({ ...sample, chains: sample.chains.map((chain) => ({ ...chain, rpcUrls: ["http://127.0.0.1:1"] })) }),
);

test("hub deploy reports an unreachable chain, and not a missing hub", async () => {
  const { code, out, err } = await runCli(["hub", "deploy", "--config", config, "--chain", "base-sepolia"], KEYS);
  assert.deepEqual([code, out, err], [1, "", "error: Base Sepolia does not answer, so its hub cannot be checked.\n"]);
});

for (const name of ["base-sepolia", "84532", "eip155:84532", "Base Sepolia", "base sepolia"]) {
  test(`hub status --chain ${name} shows that chain only`, async () => {
    const { out } = await runCli(["hub", "status", "--config", config, "--chain", name, "--json"], KEYS);
    const hubs = (JSON.parse(out) as { chain: string; hub: string }[]).map(({ chain, hub }) => [chain, hub]);
    assert.deepEqual(hubs, [["eip155:84532", "unreachable"]]);
  });
}

test("hub deploy --chain suggests the closest chain", async () => {
  const { code, err } = await runCli(["hub", "deploy", "--config", config, "--chain", "base-spolia"], KEYS);
  assert.deepEqual([code, err], [1, "error: The chain base-spolia is not configured; did you mean base-sepolia?\n"]);
});
