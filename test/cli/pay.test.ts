import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createPublicClient, http, type Hex } from "viem";
import { createApiClient } from "../../src/operator/client/apiClient.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { runCli, useDevWorld } from "../support/cli.ts";

// What a payer types. Money that is sent cannot be called back, so every slip must be told before.

/** Each takes a good part of a second. */
const READS_MAX = 60;

describe("paying from the command line", () => {
  const world = useDevWorld();
  const { folder, variables } = world;

  async function createIntent(): Promise<string> {
    const { baseUrl, accounts } = world.dev.ready;
    const api = createApiClient({ baseUrl, apiKey: accounts[0]?.apiKey ?? "" });
    return (await api.createPaymentIntent({ priceUnits: 5_000_000, oneTime: true })).intentId;
  }

  /** Transactions of the payer on every chain so far. */
  async function countSent(): Promise<number[]> {
    const address = world.dev.ready.payer.address as Hex;
    return Promise.all(
      world.dev.ready.chains.map(({ rpcUrl }) =>
        createPublicClient({ transport: http(rpcUrl) }).getTransactionCount({ address }),
      ),
    );
  }

  const otherChain = () => world.dev.ready.chains[1]?.rpcUrl ?? "";
  const REFUSED: [what: string, words: () => string[], sentence: RegExp][] = [
    ["a time that is none", () => ["--timeout", "abc"], /--timeout takes a number of seconds above 0, not abc/],
    ["no time at all", () => ["--timeout", "0"], /--timeout takes a number of seconds above 0, not 0/],
    ["a time without end", () => ["--timeout", "Infinity"], /--timeout takes a number of seconds/],
    ["a time that nobody waits for", () => ["--no-wait", "--timeout", "abc"], /--timeout takes a number of seconds/],
    ["an amount that is none", () => ["--amount", "1e3"], /--amount 1e3 is no amount of USDC/],
    [
      "a token that is none",
      () => ["--token", "DOGE"],
      /token DOGE on Dev Chain One is not known here; give one of USDC, DUSD/,
    ],
    [
      "a slip in the chain",
      () => ["--chain", "dev-tow"],
      /The chain dev-tow is not configured; did you mean dev-two\?/,
    ],
    ["a chain that is none", () => ["--chain", "nowhere"], /nowhere is not configured; give one of dev-one, dev-two/],
    [
      "a key that is not there",
      () => ["--private-key-env", "NO_KEY"],
      /--private-key-env names an environment variable that is not set/,
    ],
    ["a key that is none", () => ["--private-key-env", "TRIBUTARY_HOME"], /private key is not 0x and 64 hex digits/],
    ["another chain's node", () => ["--rpc-url", otherChain()], /--rpc-url is a node of chain 900002, not of .*900001/],
    ["a node that is none", () => ["--rpc-url", "nowhere"], /--rpc-url must be an http\(s\) URL\./],
  ];

  for (const [what, words, sentence] of REFUSED) {
    test(`${what} is refused in one sentence, and nothing is sent`, async () => {
      const intentId = await createIntent();
      const before = await countSent();
      const { code, out, err } = await runCli(["pay", intentId, ...words()], variables);
      assert.match(err, sentence);
      assert.match(err, /^error: [^\n]+\n$/);
      assert.deepEqual([code, out], [2, ""]);
      assert.deepEqual(await countSent(), before);
    });
  }

  test("when the counting takes too long, it is said that the money is on its way", async () => {
    const words = ["pay", await createIntent(), "--amount", "1", "--timeout", "0.001"];
    const { code, err } = await runCli(words, variables);
    assert.equal(code, 1);
    assert.match(err, /The money was sent by 0x[0-9a-f]{64}: paying again would pay twice\./);
    assert.match(err, /did not happen within 0\.001 s/);
  });

  test("beside a service elsewhere the payout chain has its names, and a node of it must be given", async () => {
    const { baseUrl, accounts, chains, payer } = world.dev.ready;
    const elsewhere = { TRIBUTARY_HOME: "/nonexistent", KEY: accounts[0]?.apiKey ?? "", PAYER: payer.privateKey };
    const named = ["--base-url", baseUrl, "--api-key-env", "KEY", "--private-key-env", "PAYER"];
    const words = ["pay", await createIntent(), ...named, "--chain", "dev-one", "--no-wait"];
    const refused = await runCli(words, elsewhere);
    assert.deepEqual(
      [refused.code, refused.err],
      [2, "error: No node of dev-one is known here: give one with --rpc-url.\n"],
    );
    const { code, out, err } = await runCli([...words, "--rpc-url", chains[0]?.rpcUrl ?? ""], elsewhere);
    assert.equal(code, 0, err);
    assert.match(out, /^0x[0-9a-f]{64}\n$/);
  });

  test("intents show tells what was swept in the token that was swept", async () => {
    const intentId = await createIntent();
    const held = await runCli(["pay", intentId, "--token", "DUSD", "--amount", "7.5"], variables);
    assert.match(held.out, / held\n$/, held.err);
    const paid = await runCli(["pay", intentId], variables);
    assert.equal(paid.code, 0, paid.err);
    const [file, keyFile] = [join(folder, "intent.json"), join(folder, "recovery.key")];
    const shown = await runCli(["intents", "show", intentId, "--json"], variables);
    writeFileSync(file, JSON.stringify((JSON.parse(shown.out) as { intent: object }).intent));
    writeFileSync(keyFile, DEV_ACCOUNTS.recoveryFirst.privateKey);
    const words = [
      "recover",
      file,
      "--rpc",
      world.dev.ready.chains[0]?.rpcUrl ?? "",
      "--rescue",
      "--key-file",
      keyFile,
    ];
    const rescued = await runCli(words, variables);
    assert.match(rescued.out, /rescued 7\.5 DUSD/, rescued.err);
    const settlements = async () =>
      (await runCli(["intents", "show", intentId], variables)).out.split("SETTLEMENT")[1] ?? "";
    let lines = await settlements();
    for (let reads = 0; reads < READS_MAX && lines.match(/^set_/gm)?.length !== 2; reads += 1)
      lines = await settlements();
    assert.match(lines, /^set_\w+ +landed +5 USDC +4\.975 +0\.025 +0x/m);
    assert.match(lines, /^set_\w+ +landed +7\.5 DUSD +7\.5 +0 +0x/m);
  });

  test("the demo pays on no other chain than the payout's, and waits no time that is none", async () => {
    const { baseUrl, accounts, payer } = world.dev.ready;
    const keys = { ...variables, KEY: accounts[0]?.apiKey ?? "", PAYER: payer.privateKey };
    const named = ["--base-url", baseUrl, "--api-key-env", "KEY", "--payer-key-env", "PAYER"];
    const before = await countSent();
    const astray = await runCli(["demo", ...named, "--rpc-url", otherChain()], keys);
    assert.equal(astray.code, 1);
    assert.match(astray.err, /error: The node is one of chain 900002, and this is paid on chain 900001\.\n$/);
    const hasty = await runCli(["demo", "--timeout", "soon"], keys);
    assert.deepEqual([hasty.code, hasty.err], [2, "error: --timeout takes a number of seconds above 0, not soon.\n"]);
    assert.deepEqual(await countSent(), before);
  });

  for (const name of ["dev-two", "Dev Chain Two", "900002", "eip155:900002", "DEV-TWO"]) {
    test(`--chain ${name} is the second chain`, async () => {
      const sentBefore = await countSent();
      const words = ["pay", await createIntent(), "--chain", name, "--token", "USDC", "--amount", "1", "--no-wait"];
      const { code, err } = await runCli(words, variables);
      assert.deepEqual([code, /on (Dev Chain \w+)/.exec(err)?.[1]], [0, "Dev Chain Two"], err);
      assert.deepEqual(await countSent(), [sentBefore[0], (sentBefore[1] ?? 0) + 1]);
    });
  }
});
