import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createPublicClient, createTestClient, http, type Hex } from "viem";
import { SolanaRpc } from "../../src/chain/solana/rpc/solanaRpc.ts";
import { createApiClient } from "../../src/operator/client/apiClient.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { runCli } from "../support/cli.ts";
import { evmChains, solanaOf, solanaPayout, useDevWorld } from "../support/devWorld.ts";
import { onlyDeep } from "../support/runNumber.ts";

// The pay command. A sent transfer cannot be undone, so every mistake must fail before it.

const WAIT_MS_MAX = 120_000;
const POLL_MS = 100;

/** Reads until the text matches, for at most two minutes. Returns the last text. */
async function readUntil(pattern: RegExp, read: () => Promise<string>): Promise<string> {
  const deadline = AbortSignal.timeout(WAIT_MS_MAX);
  let text = await read();
  while (!pattern.test(text) && !deadline.aborted) {
    await delay(POLL_MS);
    text = await read();
  }
  return text;
}

describe("pay", () => {
  const world = useDevWorld();
  const { folder, variables } = world;

  async function createIntent(): Promise<string> {
    const { baseUrl, accounts } = world.dev.ready;
    const api = createApiClient({ baseUrl, apiKey: accounts[0]?.apiKey ?? "" });
    return (await api.createPaymentIntent({ priceUnits: 5_000_000, oneTime: true })).intentId;
  }

  /** The payer's transaction count on each chain. */
  async function countSent(): Promise<number[]> {
    const address = world.dev.ready.payer.address as Hex;
    return Promise.all(
      evmChains(world.dev).map(({ rpcUrl }) =>
        createPublicClient({ transport: http(rpcUrl) }).getTransactionCount({ address }),
      ),
    );
  }

  const otherChain = () => world.dev.ready.chains[1]?.rpcUrl ?? "";
  const REFUSED: [what: string, words: () => string[], sentence: RegExp][] = [
    ["an invalid timeout", () => ["--timeout", "abc"], /--timeout must be a number of seconds above 0, not abc/],
    ["a timeout of zero", () => ["--timeout", "0"], /--timeout must be a number of seconds above 0, not 0/],
    ["an infinite timeout", () => ["--timeout", "Infinity"], /--timeout must be a number of seconds/],
    ["an unused timeout", () => ["--no-wait", "--timeout", "abc"], /--timeout must be a number of seconds/],
    ["an invalid amount", () => ["--amount", "1e3"], /--amount 1e3 is not an amount of USDC/],
    ["an unknown token", () => ["--token", "DOGE"], /token DOGE is unknown on Dev Chain One; give one of USDC, DUSD/],
    ["a misspelled chain", () => ["--chain", "dev-tow"], /The chain dev-tow is not configured; did you mean dev-two\?/],
    [
      "an unknown chain",
      () => ["--chain", "nowhere"],
      /nowhere is not configured; give one of dev-one, dev-two, dev-solana/,
    ],
    [
      "an unset variable",
      () => ["--private-key-env", "NO_KEY"],
      /--private-key-env names an environment variable that is not set/,
    ],
    ["an invalid key", () => ["--private-key-env", "TRIBUTARY_HOME"], /private key must be 0x and 64 hex digits/],
    [
      "another chain's node",
      () => ["--rpc-url", otherChain()],
      /--rpc-url must be a node of .*900001.* one of chain 900002/,
    ],
    [
      "a chain without the inbox",
      () => ["--chain", "dev-solana"],
      /paid out on dev-one, and its inbox 0x\w{40} takes no deposits on Dev Solana\./,
    ],
    ["an invalid URL", () => ["--rpc-url", "nowhere"], /--rpc-url must be an http\(s\) URL\./],
  ];

  for (const [what, words, sentence] of REFUSED) {
    test(`${what} fails with one sentence, and nothing is sent`, async () => {
      const intentId = await createIntent();
      const before = await countSent();
      const { code, out, err } = await runCli(["pay", intentId, ...words()], variables);
      assert.match(err, sentence);
      assert.match(err, /^error: [^\n]+\n$/);
      assert.deepEqual([code, out], [2, ""]);
      assert.deepEqual(await countSent(), before);
    });
  }

  test("after a timeout, a note warns that the transfer was sent", async () => {
    const node = createTestClient({ mode: "anvil", transport: http(world.dev.ready.chains[0]?.rpcUrl) });
    const words = ["pay", await createIntent(), "--amount", "1", "--timeout", "0.001"];
    // Counting needs a second block: without one, the deposit cannot be counted before the command's first read.
    await node.setAutomine(true);
    const { code, err } = await runCli(words, variables);
    await node.setIntervalMining({ interval: 1 });
    assert.equal(code, 1, err);
    assert.match(err, /The transfer 0x[0-9a-f]{64} was sent\. Do not pay again: a second payment adds to it\./);
    assert.match(err, /took longer than 0\.001 s/);
  });

  test("for a remote service, --chain accepts the payout chain's name, and --rpc-url is required", async () => {
    const { baseUrl, accounts, chains, payer } = world.dev.ready;
    const elsewhere = { TRIBUTARY_HOME: "/nonexistent", KEY: accounts[0]?.apiKey ?? "", PAYER: payer.privateKey };
    const named = ["--base-url", baseUrl, "--api-key-env", "KEY", "--private-key-env", "PAYER"];
    const words = ["pay", await createIntent(), ...named, "--chain", "dev-one", "--no-wait"];
    const refused = await runCli(words, elsewhere);
    assert.deepEqual(
      [refused.code, refused.err],
      [2, "error: No node of dev-one is known: give its URL in --rpc-url.\n"],
    );
    const { code, out, err } = await runCli([...words, "--rpc-url", chains[0]?.rpcUrl ?? ""], elsewhere);
    assert.equal(code, 0, err);
    assert.match(out, /^0x[0-9a-f]{64}\n$/);
  });

  test("intents show prints each settlement in its own token", { skip: onlyDeep }, async () => {
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
    const lines = await readUntil(/^set_\w+ +landed .*^set_\w+ +landed /ms, settlements);
    assert.match(lines, /^set_\w+ +landed +5 USDC +4\.975 +0\.025 +0x/m);
    assert.match(lines, /^set_\w+ +landed +7\.5 DUSD +7\.5 +0 +0x/m);
  });

  test("demo rejects a node of another chain and an invalid timeout", async () => {
    const { baseUrl, accounts, payer } = world.dev.ready;
    const keys = { ...variables, KEY: accounts[0]?.apiKey ?? "", PAYER: payer.privateKey };
    const named = ["--base-url", baseUrl, "--api-key-env", "KEY", "--payer-key-env", "PAYER"];
    const before = await countSent();
    const astray = await runCli(["demo", ...named, "--rpc-url", otherChain()], keys);
    assert.equal(astray.code, 1);
    assert.match(astray.err, /error: --rpc-url must be a node of chain 900001, and it is one of chain 900002\.\n$/);
    const hasty = await runCli(["demo", "--timeout", "soon"], keys);
    assert.deepEqual([hasty.code, hasty.err], [2, "error: --timeout must be a number of seconds above 0, not soon.\n"]);
    assert.deepEqual(await countSent(), before);
  });

  for (const name of ["dev-two", "Dev Chain Two", "900002", "eip155:900002", "DEV-TWO"]) {
    test(`--chain ${name} names the second chain`, async () => {
      const sentBefore = await countSent();
      const words = ["pay", await createIntent(), "--chain", name, "--token", "USDC", "--amount", "1", "--no-wait"];
      const { code, err } = await runCli(words, variables);
      assert.deepEqual([code, /on (Dev Chain \w+)/.exec(err)?.[1]], [0, "Dev Chain Two"], err);
      assert.deepEqual(await countSent(), [sentBefore[0], (sentBefore[1] ?? 0) + 1]);
    });
  }

  describe("on Solana", { skip: onlyDeep }, () => {
    async function createSolanaIntent(): Promise<string> {
      const { baseUrl, accounts } = world.dev.ready;
      const api = createApiClient({ baseUrl, apiKey: accounts[1]?.apiKey ?? "" });
      return (await api.createPaymentIntent({ priceUnits: 5_000_000, oneTime: true, ...solanaPayout(world.dev) }))
        .intentId;
    }

    /** Transactions of the payer. */
    async function countSentOnSolana(): Promise<number> {
      const rpc = new SolanaRpc({ url: solanaOf(world.dev).rpcUrl });
      const { entries } = await rpc.signatures(world.dev.ready.solana.payer.address, {
        before: undefined,
        reachedSlot: 0n,
      });
      await rpc.close();
      return entries.length;
    }

    const evmNode = () => evmChains(world.dev)[0]?.rpcUrl ?? "";
    const solanaNode = () => solanaOf(world.dev).rpcUrl;
    const REFUSED_ON_SOLANA: [what: string, words: () => string[], sentence: RegExp, code: number][] = [
      [
        "an EVM chain",
        () => ["--chain", "dev-one"],
        /on dev-solana, and its inbox \w+ takes no deposits on Dev Chain One/,
        2,
      ],
      ["another token", () => ["--token", "DUSD"], /takes one token: give USDC \(\w+\), because a deposit of DUSD/, 2],
      ["an unknown token", () => ["--token", "doge"], /doge is unknown on Dev Solana; give one of USDC, USDT, EURC/, 2],
      ["a node of an EVM chain", () => ["--rpc-url", evmNode()], /does not answer as a cluster of Solana/, 1],
      ["a key of an EVM chain", () => ["--private-key-env", "KEY"], /must be the 64 bytes of a key pair, in base58/, 2],
      ["more than the payer holds", () => ["--amount", "100000000"], /holds \d+ units of \w+, which is less than/, 1],
    ];

    for (const [what, words, sentence, expected] of REFUSED_ON_SOLANA) {
      test(`${what} fails with one sentence, and nothing is sent`, async () => {
        const intentId = await createSolanaIntent();
        const before = await countSentOnSolana();
        const keys = { ...variables, KEY: world.dev.ready.payer.privateKey };
        const { code, out, err } = await runCli(["pay", intentId, ...words()], keys);
        assert.match(err, sentence);
        assert.match(err, /error: [^\n]+\n$/);
        assert.deepEqual([code, out], [expected, ""]);
        assert.equal(await countSentOnSolana(), before);
      });
    }

    test("a part and then the rest count, with the output of every chain", async () => {
      const intentId = await createSolanaIntent();
      const part = await runCli(["pay", intentId, "--amount", "0.5", "--chain", "dev-solana"], variables);
      assert.equal(part.code, 0, part.err);
      assert.match(part.err, /^paying 0\.5 USDC to \w{32,44} on Dev Solana\nmined in block \d+: \w{64,88}\n/);
      assert.match(part.out, /^\w{64,88} counted\n$/);
      const paid = await runCli(["pay", intentId, "--json"], variables);
      assert.equal(paid.code, 0, paid.err);
      const { deposit, intent } = JSON.parse(paid.out) as {
        deposit: { status: string };
        intent: { paymentStatus: string; amounts: { countedUnits: string } };
      };
      assert.deepEqual(
        [deposit.status, intent.paymentStatus, intent.amounts.countedUnits],
        ["counted", "paid", "5000000"],
      );
      const explorer = `${world.dev.ready.baseUrl}/dev/explorer/104`;
      const readPage = async (path: string) => (await fetch(`${explorer}${path}`)).text();
      const [txHash = ""] = part.out.split(" ");
      assert.match(await readPage(`/tx/${txHash}`), /success.*payer.*0\.5 USDC/s);
      // The payout wallet receives nothing before the settlement, which follows the count.
      const received = /payout first.*Received.*USDC/s;
      const payoutPage = () => readPage(`/address/${world.dev.ready.solana.payoutWallet}`);
      assert.match(await readUntil(received, payoutPage), received);
      assert.match(await readPage(""), /Latest token transfers.*0\.5 USDC/s);
      assert.match(await readPage(`/tx/${txHash.slice(1)}`), /Not on this chain/);
      const more = await runCli(["pay", intentId], variables);
      assert.deepEqual([more.code, more.err], [2, "error: Nothing is left to pay: give the amount in --amount.\n"]);
    });

    test("for a remote service, the payer's key pair and a node of its chain are needed", async () => {
      const { baseUrl, accounts, solana } = world.dev.ready;
      const elsewhere = {
        TRIBUTARY_HOME: "/nonexistent",
        KEY: accounts[1]?.apiKey ?? "",
        PAYER: solana.payer.privateKey,
      };
      const named = ["--base-url", baseUrl, "--api-key-env", "KEY", "--private-key-env", "PAYER"];
      const words = ["pay", await createSolanaIntent(), ...named, "--no-wait"];
      const refused = await runCli(words, elsewhere);
      assert.deepEqual(
        [refused.code, refused.err],
        [2, "error: No node of dev-solana is known: give its URL in --rpc-url.\n"],
      );
      const { code, out, err } = await runCli([...words, "--rpc-url", solanaNode()], elsewhere);
      assert.equal(code, 0, err);
      assert.match(out, /^\w{64,88}\n$/);
    });
  });
});
