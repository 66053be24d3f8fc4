import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { transferCall } from "../../src/dev/chains/tokens.ts";
import { startTestChain, type TestChain } from "./chain.ts";

const INBOX = "0x00000000000000000000000000000000000f00d5";
const OTHER = "0x00000000000000000000000000000000000f00d6";
const { payer, stranger } = DEV_ACCOUNTS;

let chain: TestChain;
before(async () => {
  chain = await startTestChain();
});
after(() => chain.stop());

const heldBy = (owner: `0x${string}`) => chain.balanceOf(chain.usdc.address, owner);
const head = () => chain.client.getBlock();

test("the chain mines one block for each payment and no other", async () => {
  const { number } = await head();
  const heldBefore = await heldBy(INBOX);
  const receipt = await chain.pay(chain.usdc.address, INBOX, { amountUnits: 5_000_000n });
  assert.equal(receipt.blockNumber, number + 1n);
  assert.equal((await head()).number, number + 1n);
  assert.equal(await heldBy(INBOX), heldBefore + 5_000_000n);
  await chain.mine(3);
  assert.equal((await head()).number, number + 4n);
});

test("any holder can pay the second token, which has 18 decimals", async () => {
  await chain.mint(chain.dusd.address, stranger.address, 2n * 10n ** 18n);
  await chain.pay(chain.dusd.address, INBOX, { amountUnits: 10n ** 18n, from: stranger });
  assert.equal(await chain.balanceOf(chain.dusd.address, INBOX), 10n ** 18n);
});

test("several payments share one block in the order sent", async () => {
  const receipts = await chain.payInOneBlock([
    { token: chain.usdc.address, to: INBOX, amountUnits: 1n },
    { token: chain.usdc.address, to: OTHER, amountUnits: 2n },
    { token: chain.dusd.address, to: INBOX, amountUnits: 3n },
  ]);
  assert.equal(new Set(receipts.map(({ blockHash }) => blockHash)).size, 1);
  assert.deepEqual(
    receipts.map(({ transactionIndex, status }) => [transactionIndex, status]),
    [
      [0, "success"],
      [1, "success"],
      [2, "success"],
    ],
  );
});

test("a blocklisted address neither sends nor receives", async () => {
  await chain.blocklist(chain.usdc.address, OTHER);
  const [receipt] = await chain.send(payer, [transferCall(chain.usdc.address, OTHER, 1n)]);
  assert.equal(receipt?.status, "reverted");
  await assert.rejects(chain.pay(chain.usdc.address, OTHER, { amountUnits: 1n }), /reverted/);
  await chain.unblocklist(chain.usdc.address, OTHER);
  await chain.pay(chain.usdc.address, OTHER, { amountUnits: 1n });
});

test("a reorg drops the payments of the replaced blocks", async () => {
  const heldBefore = await heldBy(INBOX);
  const paid = await chain.pay(chain.usdc.address, INBOX, { amountUnits: 7n });
  await chain.mine(1);
  const { number } = await head();
  await chain.reorg(2);
  assert.equal((await head()).number, number);
  assert.equal(await heldBy(INBOX), heldBefore);
  await assert.rejects(chain.client.getTransactionReceipt({ hash: paid.transactionHash }), /could not be found/);
  await assert.rejects(chain.client.getLogs({ blockHash: paid.blockHash }), /unknown block/);
  await assert.rejects(chain.client.getBlock({ blockHash: paid.blockHash }), /could not be found/);
});

test("a reorg mines replacements in other blocks and another order", async () => {
  const heldBefore = await heldBy(INBOX);
  const { number } = await head();
  await chain.mint(chain.usdc.address, stranger.address, 10n);
  const fromPayer = await chain.pay(chain.usdc.address, INBOX, { amountUnits: 7n });
  const fromStranger = await chain.pay(chain.usdc.address, INBOX, { amountUnits: 8n, from: stranger });
  assert.equal(fromPayer.blockNumber, number + 2n);
  assert.equal(fromStranger.blockNumber, number + 3n);
  await chain.reorg(2, [
    { signed: await chain.signedOf(fromStranger.transactionHash), blockIndex: 0 },
    { signed: await chain.signedOf(fromPayer.transactionHash), blockIndex: 1 },
  ]);
  const { client } = chain;
  const payerAgain = await client.getTransactionReceipt({ hash: fromPayer.transactionHash });
  const strangerAgain = await client.getTransactionReceipt({ hash: fromStranger.transactionHash });
  assert.equal(payerAgain.blockNumber, number + 3n);
  assert.equal(strangerAgain.blockNumber, number + 2n);
  assert.notEqual(payerAgain.blockHash, fromPayer.blockHash);
  assert.equal(await heldBy(INBOX), heldBefore + 15n);
});

test("safe and finalized follow the head at one and two blocks, and a rollback lowers them", async () => {
  await chain.pay(chain.usdc.address, INBOX, { amountUnits: 1n });
  const { number } = await head();
  const tagged = async () => {
    const blocks = await Promise.all(
      (["latest", "safe", "finalized"] as const).map((blockTag) => chain.client.getBlock({ blockTag })),
    );
    return blocks.map((block) => block.number - number);
  };
  assert.deepEqual(await tagged(), [0n, -1n, -2n]);
  await chain.mine(2);
  assert.deepEqual(await tagged(), [2n, 1n, 0n]);
  await chain.rollback(1);
  assert.deepEqual(await tagged(), [1n, 0n, -1n]);
});

test("a payment after a reorg takes the next number of the remaining chain", async () => {
  await chain.pay(chain.usdc.address, INBOX, { amountUnits: 3n });
  await chain.reorg(1);
  const heldBefore = await heldBy(INBOX);
  await chain.pay(chain.usdc.address, INBOX, { amountUnits: 4n });
  assert.equal(await heldBy(INBOX), heldBefore + 4n);
});
