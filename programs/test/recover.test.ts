import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { solanaTermsToWire } from "@tributary/inbox/solana/wire";
import type { Terms } from "@tributary/inbox/terms";
import { termsToWire } from "@tributary/inbox/wire";
import { renderCli, runCli, temporaryFolder } from "../../test/support/cli.ts";
import { startRpcServer } from "./support/rpcServer.ts";
import { RECOVER_AFTER, Scene, START } from "./support/scene.ts";
import {
  associated,
  createAssociated,
  createMint,
  fund,
  sendLamports,
  setFrozen,
  transferTokens,
} from "./support/tokens.ts";
import type { Keypair } from "./support/world.ts";

// The command with nothing but terms, an RPC URL and a key.

const anyEvmTerms: Terms = {
  salt: `0x${"11".repeat(32)}`,
  settleChainId: 900_001n,
  settleToken: `0x${"22".repeat(20)}`,
  payout: `0x${"33".repeat(20)}`,
  feeRecipient: `0x${"44".repeat(20)}`,
  feeBps: 50,
  recovery: `0x${"33".repeat(20)}`,
  recoverAfter: START,
  routesRoot: `0x${"00".repeat(32)}`,
};
const scene = new Scene();
const { world, mint, otherMint, payer, stranger, operator, merchant, recoverer, thief, feeAccount, payoutAccount } =
  scene;
const folder = temporaryFolder();
let server: Awaited<ReturnType<typeof startRpcServer>>;

before(async () => {
  server = await startRpcServer(world, "1".repeat(44));
});
after(async () => {
  await server.close();
  folder.remove();
});

function writeIntents(name: string, inboxes: readonly SolanaInbox[]): string {
  const intents = inboxes.map((inbox, index) => ({
    intentId: `pi_${index}`,
    inboxTerms: { solana: { ...solanaTermsToWire(inbox.terms, inbox), address: inbox.address } },
  }));
  return writeFile(name, { data: intents });
}

function writeFile(name: string, value: unknown): string {
  const path = join(folder.path, name);
  writeFileSync(
    path,
    JSON.stringify(value, (_, each: unknown) => (typeof each === "bigint" ? each.toString() : each)),
  );
  return path;
}

function writeKey(name: string, { key }: Keypair): string {
  const { d = "", x = "" } = key.export({ format: "jwk" });
  return writeFile(name, [...Buffer.from(d, "base64url"), ...Buffer.from(x, "base64url")]);
}

function recover(file: string, ...options: string[]) {
  return renderCli(["recover", file, "--rpc", server.url, "--program", scene.program, ...options]);
}

test("without a way it shows what the inboxes hold, and moves nothing", async () => {
  const [pay, hop] = [scene.paid(1_000n), scene.paidHop(2_000_000n)];
  const file = writeIntents("look.json", [pay, hop]);
  const words = ["recover", file, "--rpc", server.url, "--program", scene.program];
  const { code, out, err } = await runCli(words);
  assert.deepEqual([code, err], [0, ""]);
  assert.equal(
    out,
    `pi_0 holds 1000 units of ${mint}: --settle with any key\npi_1 holds 2000000 units of ${mint}: --bridge with any key\n`,
  );
  assert.equal(world.units(pay.tokenAccount), 1_000n);
});

test("any key settles to the payout wallet, and creates its account", async () => {
  const wallet = world.createWallet(0n);
  const inboxes = [scene.paid(1_000_000n), scene.paid(3_000_000n, { payout: wallet.address })];
  const before = [world.units(payoutAccount), world.units(feeAccount)] as const;
  const key = writeKey("stranger.json", stranger);
  const { code, err } = await recover(writeIntents("settle.json", inboxes), "--settle", "--key-file", key);
  assert.deepEqual([code, err], [0, ""]);
  assert.deepEqual([world.units(payoutAccount) - before[0], world.units(feeAccount) - before[1]], [995_000n, 20_000n]);
  assert.equal(world.units(associated(wallet.address, mint)), 2_985_000n);
});

test("any key bridges what is paid out on another chain", async () => {
  const hop = scene.paidHop(2_000_000n);
  const supply = world.supply(mint);
  const key = writeKey("stranger.json", stranger);
  const { code, out } = await recover(writeIntents("bridge.json", [hop]), "--bridge", "--key-file", key, "--json");
  assert.equal(code, 0);
  assert.equal(supply - world.supply(mint), 2_000_000n);
  const [{ transactions } = assert.fail()] = JSON.parse(out) as {
    transactions: { what: string; inboxAddress: string }[];
  }[];
  assert.deepEqual(
    transactions.map(({ what, inboxAddress }) => [what, inboxAddress]),
    [["bridge", hop.address]],
  );
});

test("the recovery key rescues another mint at once and the pinned one in time; other keys rescue nothing", async () => {
  const inbox = scene.paid(5_000_000n);
  const wrong = fund(world, operator, { owner: inbox.address, mint: otherMint, units: 7n });
  const file = writeIntents("rescue.json", [inbox]);
  const foreign = await recover(file, "--rescue", "--key-file", writeKey("merchant.json", merchant));
  assert.equal(foreign.code, 1);
  assert.match(foreign.err, new RegExp(`Not moved: 7 units of ${otherMint}. Only the key of ${recoverer.address} may`));
  assert.deepEqual([world.units(wrong), world.units(inbox.tokenAccount)], [7n, 5_000_000n]);
  const key = writeKey("recoverer.json", recoverer);
  assert.equal((await recover(file, "--rescue", "--key-file", key)).code, 0);
  assert.deepEqual(
    [world.units(associated(recoverer.address, otherMint)), world.units(inbox.tokenAccount)],
    [7n, 5_000_000n],
  );
  world.setTime(RECOVER_AFTER);
  const late = await recover(file, "--rescue", "--key-file", key, "--to", merchant.address);
  assert.deepEqual([late.code, world.units(inbox.tokenAccount)], [0, 0n]);
  world.setTime(START);
});

test("any key returns tokens from below the token account, and the recovery key takes SOL", async () => {
  const inbox = scene.paid(1_000n);
  world.must(
    [payer],
    [
      createAssociated(payer, inbox.tokenAccount, { mint }),
      transferTokens({
        from: scene.payerAccount,
        to: associated(inbox.tokenAccount, mint),
        mint,
        owner: payer.address,
        units: 9_000_000n,
      }),
    ],
  );
  world.must([payer], [sendLamports(payer, inbox.address, 9_000_000n)]);
  const file = writeIntents("odd.json", [inbox]);
  const looked = await recover(file);
  assert.match(looked.out, /^pi_0 holds 9000000 units of \w+ below its token account: every way returns them/m);
  assert.match(
    looked.out,
    new RegExp(`^pi_0 holds \\d+ lamports: --rescue with the key of ${recoverer.address}$`, "m"),
  );
  const before = world.units(payoutAccount);
  const settled = await recover(file, "--settle", "--key-file", writeKey("stranger.json", stranger));
  assert.deepEqual([settled.code, settled.err], [0, ""]);
  assert.equal(world.units(payoutAccount) - before, (9_001_000n * 995n) / 1000n);
  const held = world.lamports(inbox.address);
  const receiver = world.createWallet(1_000_000n).address;
  const key = writeKey("recoverer.json", recoverer);
  const rescued = await recover(file, "--rescue", "--key-file", key, "--to", receiver, "--json");
  assert.deepEqual([rescued.code, rescued.err], [0, ""]);
  const [{ transactions } = assert.fail()] = JSON.parse(rescued.out) as {
    transactions: { units: string; mint: null }[];
  }[];
  assert.deepEqual(
    transactions.map(({ mint: of, units }) => [of, BigInt(units)]),
    [[null, held - 890_880n]],
  );
  assert.deepEqual([world.lamports(inbox.address), world.lamports(receiver)], [890_880n, 1_000_000n + held - 890_880n]);
  assert.doesNotMatch((await recover(file)).out, /lamports/);
});

test("tokens that a stranger sends and freezes stop nothing else, and cost the sender no rent", async () => {
  const [first, second] = [scene.paid(1_000_000n), scene.paid(2_000_000n)];
  const spam = createMint(world, thief);
  const freeze = (account: string) => setFrozen(account, spam, { authority: thief, isFrozen: true });
  const spamAccount = fund(world, thief, { owner: first.address, mint: spam, units: 9n });
  const nested = fund(world, thief, { owner: second.tokenAccount, mint: spam, units: 9n });
  world.must([thief], [freeze(spamAccount), freeze(nested)]);
  const wrong = fund(world, operator, { owner: second.address, mint: otherMint, units: 7n });
  const file = writeIntents("spam.json", [first, second]);
  const paid = world.units(payoutAccount);
  const settled = await recover(file, "--settle", "--key-file", writeKey("stranger.json", stranger));
  assert.deepEqual([settled.code, settled.err, world.units(payoutAccount) - paid], [0, "", 2_985_000n]);
  assert.equal(world.exists(associated(second.address, spam)), false);
  const before = world.units(associated(recoverer.address, otherMint));
  const rescued = await recover(file, "--rescue", "--key-file", writeKey("recoverer.json", recoverer), "--json");
  assert.deepEqual([rescued.code, world.units(wrong)], [1, 0n]);
  assert.equal(world.units(associated(recoverer.address, otherMint)) - before, 7n);
  const [{ failures, transactions } = assert.fail()] = JSON.parse(rescued.out) as {
    failures: { what: string; inboxAddress: string; mint: string; reason: string }[];
    transactions: { mint: string | null }[];
  }[];
  assert.deepEqual(
    failures.map(({ what, inboxAddress, mint: of }) => [what, inboxAddress, of]),
    [
      ["unnest", second.address, spam],
      ["rescue", first.address, spam],
    ],
  );
  assert.match(failures[1]?.reason ?? "", /The cluster rejects the transaction/);
  assert.deepEqual(
    transactions.filter(({ mint: of }) => of !== null).map(({ mint: of }) => of),
    [otherMint],
  );
  assert.match(rescued.err, new RegExp(`rescue of 9 units of ${spam} failed: The cluster rejects`));
});

test("a burn below the minimum, or to another messenger, is not sent; a token account receives no rescue", async () => {
  const [small, foreign] = [scene.paidHop(999_999n), scene.paidHop(2_000_000n, { messenger: scene.robber })];
  const file = writeIntents("unbridgeable.json", [small, foreign]);
  const key = writeKey("stranger.json", stranger);
  const { code, out, err } = await recover(file, "--bridge", "--key-file", key);
  assert.equal(code, 1, "nothing moved");
  assert.match(err, /^Not moved: 999999 units .+: the bridge takes no less than the minimum of its terms\.$/m);
  const rescue = `; --rescue with the key of ${recoverer.address} from 2027-07-07`;
  assert.equal(
    out,
    `pi_0 holds 999999 units of ${mint}: the bridge takes no less than the minimum of its terms${rescue}\n` +
      `pi_1 holds 2000000 units of ${mint}: it is not bridged, because its terms name a messenger that is not Circle's${rescue}\n`,
  );
  const recovery = writeKey("recoverer.json", recoverer);
  const refused = await recover(file, "--rescue", "--key-file", recovery, "--to", payoutAccount);
  assert.deepEqual([refused.code, world.units(small.tokenAccount)], [1, 999_999n]);
  assert.match(refused.err, /--to: \w+ is a token account or a mint: name the wallet that owns the account/);
});

test("a burn is listed with the command that receives it; beside it an intent of an EVM chain is no error", async () => {
  const hop = scene.paidHop(4_000_000n);
  const onEvm = { inboxTerms: termsToWire(anyEvmTerms) };
  // As the API shows an intent that is paid out on an EVM chain.
  const solanaRoutes = [solanaTermsToWire(hop.terms, hop)];
  const onSolana = { intentId: "pi_hop", inboxTerms: { ...termsToWire(anyEvmTerms), solanaRoutes } };
  const file = writeFile("burned.json", [onEvm, onSolana]);
  const bridged = await recover(file, "--bridge", "--key-file", writeKey("stranger.json", stranger), "--json");
  assert.equal(bridged.code, 0, bridged.err);
  const [{ transactions } = assert.fail()] = JSON.parse(bridged.out) as { transactions: { signature: string }[] }[];
  const [{ signature } = assert.fail()] = transactions;
  const looked = await recover(file, "--json");
  const [{ burned } = assert.fail()] = JSON.parse(looked.out) as { burned: object[] }[];
  const recipient = hop.terms.kind === "hop" && hop.terms.mintRecipient;
  assert.deepEqual(burned, [{ burn: signature, recipient, units: "4000000", state: "unknown" }]);
  assert.match((await recover(file)).out, new RegExp(`Burned for .+${signature}`, "s"));
});

test("the inbox itself is no receiver of a rescue", async () => {
  const inbox = scene.paid(1_000n);
  const key = writeKey("recoverer.json", recoverer);
  const file = writeIntents("inside.json", [inbox]);
  for (const to of [inbox.address, inbox.tokenAccount]) {
    const run = await recover(file, "--rescue", "--key-file", key, "--to", to);
    assert.equal(run.code, 2);
    assert.match(run.err, /is an inbox itself, not a wallet/);
  }
});

test("wrong input is refused with its reason", async () => {
  const file = writeIntents("wrong.json", [scene.pay()]);
  const cases: readonly (readonly [string[], number, RegExp])[] = [
    [[file, "--rpc", "ftp://x"], 2, /--rpc must be one or more http\(s\) URLs/],
    [[file, "--rpc", server.url], 2, /has no published inbox program: name yours with --program/],
    [[file, "--rpc", server.url, "--program", scene.robber], 1, /The inbox \w+ belongs to the program/],
    [[file, "--rpc", server.url, "--program", scene.program, "--settle"], 2, /Missing private key/],
    [
      [file, "--rpc", server.url, "--to", "me", "--rescue", "--key-file", writeKey("a.json", stranger)],
      2,
      /--to must be the base58/,
    ],
    [
      [file, "--rpc", server.url, "--settle", "--key-file", writeFile("b.json", [1, 2])],
      1,
      /must be a JSON list of 64 bytes/,
    ],
    [
      [
        writeFile("c.json", [{ inboxTerms: { solana: { kind: "pay" } } }, {}]),
        "--rpc",
        server.url,
        "--program",
        scene.program,
      ],
      1,
      /Entry 1: inboxTerms\.solana: version is undefined, and this release knows 1\./,
    ],
    [[file, "--rpc", `${server.url},http://127.0.0.1:1`, "--settle"], 2, /--rpc names both kinds of chains/],
    [[file, "--rpc", server.url, "--token", "0x00"], 2, /--token is for EVM chains/],
    [[file, "--rpc", "http://127.0.0.1:1", "--bridge"], 1, /none of its 1 inboxes is on an EVM chain, and no URL/],
  ];
  for (const [words, code, reason] of cases) {
    const result = await renderCli(["recover", ...words]);
    assert.deepEqual([result.code, result.out], [code, ""], result.err);
    assert.match(result.err, reason);
  }
});
