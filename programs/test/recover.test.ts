import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { solanaTermsToWire } from "@tributary/inbox/solana/wire";
import { renderCli, runCli, temporaryFolder } from "../../test/support/cli.ts";
import { startRpcServer } from "./support/rpcServer.ts";
import { RECOVER_AFTER, Scene, START } from "./support/scene.ts";
import { associated, fund } from "./support/tokens.ts";
import type { Keypair } from "./support/world.ts";

// The command with nothing but terms, an RPC URL and a key.

const scene = new Scene();
const { world, mint, otherMint, stranger, operator, merchant, recoverer, feeAccount, payoutAccount } = scene;
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
  return renderCli(["solana", "recover", file, "--rpc", server.url, "--program", scene.program, ...options]);
}

test("without a way it shows what the inboxes hold, and moves nothing", async () => {
  const [pay, hop] = [scene.paid(1_000n), scene.paidHop(2_000_000n)];
  const file = writeIntents("look.json", [pay, hop]);
  const words = ["solana", "recover", file, "--rpc", server.url, "--program", scene.program];
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
  const { transactions } = JSON.parse(out) as { transactions: { what: string; inboxAddress: string }[] };
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
  assert.equal(foreign.code, 0);
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

test("wrong input is refused with its reason", async () => {
  const file = writeIntents("wrong.json", [scene.pay()]);
  const cases: readonly (readonly [string[], number, RegExp])[] = [
    [[file, "--rpc", "ftp://x"], 2, /--rpc must be one http\(s\) URL/],
    [[file, "--rpc", server.url], 2, /has no published inbox program: name yours with --program/],
    [[file, "--rpc", server.url, "--program", scene.robber], 1, /Entry|belongs to the program/],
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
    [[writeFile("c.json", {}), "--rpc", server.url, "--program", scene.program], 1, /it has no inboxTerms.solana/],
  ];
  for (const [words, code, reason] of cases) {
    const result = await renderCli(["solana", "recover", ...words]);
    assert.deepEqual([result.code, result.out], [code, ""], result.err);
    assert.match(result.err, reason);
  }
});
