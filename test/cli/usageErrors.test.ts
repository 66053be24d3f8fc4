import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createApiClient } from "../../src/operator/client/apiClient.ts";
import { devBridge } from "../../src/dev/devConfig.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { renderCli } from "../support/cli.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { evmChains, useDevWorld } from "../support/devWorld.ts";

// Command input beside a running process: every form of a chain's name, and mistakes, which never look like an empty
// result.

const WALLET = "0x00000000000000000000000000000000000f00d5";
const NAMES = ["dev-two", "900002", "eip155:900002", "Dev Chain Two", "Dev-Two"];
const UNKNOWN_ACCOUNT = "acct_00000000000000000000000000";
const GAS_KEY = `0x${"1a".repeat(32)}`;
const UNKNOWN_TX = `0x${"0".repeat(64)}`;
const POLLS_MAX = 1_200;
const POLL_MS = 100;

describe("command input", () => {
  const world = useDevWorld();
  const { folder, variables } = world;

  before(async () => {
    for (let polls = 0; polls < POLLS_MAX; polls += 1) {
      const { out } = await renderCli(["rescan", UNKNOWN_TX, "--chain", "dev-two", "--json"], variables);
      if (!out.includes("unwatched")) return;
      await delay(POLL_MS);
    }
    throw new Error("the dev world has not scanned its second chain");
  });

  for (const name of NAMES) {
    test(`--chain ${name} names a chain for every command`, async () => {
      const words = ["accounts", "create", "Shop", "--chain", name, "--wallet", WALLET, "--json"];
      const made = await renderCli(words, variables);
      assert.equal(made.code, 0, made.err);
      assert.equal((JSON.parse(made.out) as { payout: { chain: string } }).payout.chain, "eip155:900002");
      const scanned = await renderCli(["rescan", UNKNOWN_TX, "--chain", name], variables);
      assert.deepEqual([scanned.code, scanned.out], [0, "Dev Chain Two: transaction not found\n"]);
    });
  }

  for (const words of [
    ["accounts", "create", "Shop", "--wallet", WALLET],
    ["rescan", UNKNOWN_TX],
    ["rescan", "pi_00000000000000000000000000"],
  ]) {
    test(`${words.slice(0, 2).join(" ").slice(0, 20)} --chain suggests the closest chain`, async () => {
      const { code, err } = await renderCli([...words, "--chain", "dev-tow"], variables);
      assert.deepEqual([code, err], [1, "error: The chain dev-tow is not configured; did you mean dev-two?\n"]);
    });
  }

  for (const words of [
    ["intents", "list", "--account"],
    ["events", "list", "--account"],
    ["events", "tail", "--account"],
    ["keys", "list"],
    ["ledger", "export", "--account"],
  ]) {
    test(`${words.join(" ")} rejects an unknown account`, async () => {
      const { code, out, err } = await renderCli([...words, UNKNOWN_ACCOUNT], variables);
      assert.deepEqual([code, out, err], [1, "", `error: There is no account ${UNKNOWN_ACCOUNT}.\n`]);
    });
  }

  test("accounts create prints the next command, with the same configuration", async (t) => {
    const beside = await renderCli(["accounts", "create", "Shop"], variables);
    assert.match(beside.err, /^Next: tributary keys create acct_\w+\n$/);
    const config = join(folder, "my config.json");
    const sample = JSON.parse(readFileSync(new URL("../../config/testnets.json", import.meta.url), "utf8")) as object;
    const chains = { TRIBUTARY_GAS_KEY_BASE_SEPOLIA: GAS_KEY, TRIBUTARY_GAS_KEY_SEPOLIA: GAS_KEY };
    const server = await startOwnServer({ isDurable: true });
    t.after(() => server.remove());
    writeFileSync(config, JSON.stringify({ ...sample, database: { url: await createDatabaseOn(server, "shops") } }));
    const words = ["accounts", "create", "Shop", "--config", config];
    const { code, err } = await renderCli(words, { ...variables, ...chains });
    assert.equal(code, 0, err);
    assert.match(err, /^Next: tributary keys create acct_\w+ --config '\/.*my config\.json'\n$/);
  });

  test("verify accepts the payout chain by its id, and names it in the error for another name", async () => {
    const { baseUrl, accounts } = world.dev.ready;
    const [account] = accounts;
    const intent = await createApiClient({ baseUrl, apiKey: account?.apiKey ?? "" }).createPaymentIntent({});
    const recovery = DEV_ACCOUNTS.recoveryFirst.address;
    const file = join(folder, "intent.json");
    writeFileSync(file, JSON.stringify(intent));
    const bridges = join(folder, "bridges.json");
    const contracts = evmChains(world.dev).map(({ chainId, tokens: [usdc] }) => {
      const { domain, messenger, transmitter } = devBridge(chainId);
      return { chainId, domain, messenger, transmitter, usdc: usdc?.address };
    });
    writeFileSync(bridges, JSON.stringify(contracts));
    const wallets = ["--payout", account?.payoutWallet ?? "", "--recovery", recovery];
    const verify = (chain: string) =>
      renderCli(["verify", file, ...wallets, "--chain", chain, "--bridges", bridges], variables);

    for (const chain of ["900001", "eip155:900001"]) assert.equal((await verify(chain)).code, 0, chain);
    for (const chain of ["900002", "eip155:900002"])
      assert.match((await verify(chain)).out, /it pays on another chain \(wrong_chain\)/, chain);
    const unknown = await renderCli(["verify", file, ...wallets], variables);
    assert.match(unknown.out, /with --bridges \(wrong_routes\)/);
    const { code, err } = await verify("dev-one");
    assert.deepEqual(
      [code, err],
      [
        2,
        "error: --chain dev-one does not name chain 900001, on which these terms pay out: give a chain id or CAIP-2.\n",
      ],
    );
  });
});
