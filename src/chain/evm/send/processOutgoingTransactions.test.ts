import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pino } from "pino";
import { startTestChain, type TestChain } from "../../../../test/support/chain.ts";
import { openTestDatabase } from "../../../../test/support/database.ts";
import { DEV_ACCOUNTS } from "../../../dev/devAccounts.ts";
import type { Db } from "../../../db/database.ts";
import { addMs, systemClock, type Clock } from "../../../kernel/clock.ts";
import { ProviderFailed, type HeadTag } from "../../reader.ts";
import { openEvmNode } from "../rpcNode.ts";
import { openGasAccount } from "./gasAccount.ts";
import { EvmProviders } from "../evmProviders.ts";
import { createSenderContext, type SenderContext } from "./senderContext.ts";
import { quoteCall, signAndStore } from "./signAndStore.ts";
import { processOutgoingTransactions } from "./processOutgoingTransactions.ts";

function boundMember(providers: EvmProviders, key: string | symbol): unknown {
  const value: unknown = Reflect.get(providers, key, providers);
  return typeof value === "function" ? value.bind(providers) : value;
}

const { operator, payer } = DEV_ACCOUNTS;
/** A countable call: it moves one unit of the second token from the gas account to a fresh address. */
const RECIPIENT = "0x00000000000000000000000000000000000f00d5";

describe("outgoing transactions", () => {
  let anvil: TestChain;
  let db: Db;
  let context: SenderContext;
  const log = pino({ level: "silent" });
  let clockOffsetMs = 0;
  const clock: Clock = { ...systemClock, now: () => addMs(systemClock.now(), clockOffsetMs) };
  const world = () => ({ db, clock, log });

  before(async () => {
    [anvil, db] = await Promise.all([startTestChain(), openTestDatabase("postgres")]);
    await anvil.mint(anvil.usdc.address, operator.address, 1_000n);
    const node = openEvmNode({ caip2: anvil.caip2, rpcUrl: anvil.rpcUrl });
    const providers = new EvmProviders([node], { clock, log });
    context = createSenderContext(providers, openGasAccount(operator.privateKey));
  });
  after(async () => {
    await db.close();
    await anvil.stop();
  });

  const transferData = (units: bigint) =>
    `0xa9059cbb${RECIPIENT.slice(2).padStart(64, "0")}${units.toString(16).padStart(64, "0")}`;
  async function storeOutgoing(units: bigint): Promise<bigint> {
    const call = { to: anvil.usdc.address, data: transferData(units) };
    const quote = await quoteCall(world(), context, call);
    assert.ok(quote);
    return db.transaction((tx) => signAndStore(tx, context, { call, quote, at: clock.now() }));
  }
  const process = async () => {
    await processOutgoingTransactions(world(), context);
    await anvil.untilMined();
  };
  const received = () => anvil.balanceOf(anvil.usdc.address, RECIPIENT);
  const statusOf = async (id: bigint) =>
    (await db.root.selectFrom("outgoing_transaction").select("status").where("id", "=", id).executeTakeFirstOrThrow())
      .status;

  test("stored bytes are broadcast once, by any process, and closed when their block is final", async () => {
    const id = await storeOutgoing(1n);
    assert.equal(await received(), 0n);
    await process();
    await process();
    assert.equal(await received(), 1n);
    assert.equal(await statusOf(id), "signed");
    await anvil.finalize();
    await process();
    assert.equal(await statusOf(id), "mined");
  });

  test("a transaction that a reorg dropped is sent again with the same bytes", async () => {
    const id = await storeOutgoing(10n);
    await process();
    assert.equal(await received(), 11n);
    await anvil.reorg(1);
    assert.equal(await received(), 1n);
    await process();
    assert.equal(await received(), 11n);
    await anvil.finalize();
    await process();
    assert.equal(await statusOf(id), "mined");
  });

  test("parallel transactions get neighbouring nonces and all are mined", async () => {
    const ids = await Promise.all([storeOutgoing(100n), storeOutgoing(100n), storeOutgoing(100n)]);
    await process();
    assert.equal(await received(), 311n);
    await anvil.finalize();
    await process();
    for (const id of ids) assert.equal(await statusOf(id), "mined");
  });

  test("a nonce that a stranger used is abandoned, and the next one works", async () => {
    const lost = await storeOutgoing(1_000_000n).catch(() => undefined);
    assert.equal(lost, undefined, "what the chain would refuse gets no nonce");
    const id = await storeOutgoing(2n);
    await anvil.send(operator, [{ to: payer.address, data: "0x" }]);
    await process();
    assert.equal(await statusOf(id), "lost");
    assert.equal(await received(), 311n);
    const next = await storeOutgoing(4n);
    await process();
    assert.equal(await received(), 315n);
    assert.equal(await statusOf(next), "signed");
  });

  test("a chain without the finalized tag still gets transactions, and closes deep ones", async () => {
    const id = await storeOutgoing(8n);
    const before = await received();
    const untagged = new Proxy(context.providers, {
      get: (providers, key) =>
        key === "head"
          ? async (tag: HeadTag) => {
              if (tag !== "latest") throw new ProviderFailed("unknown_block", `there is no ${tag} block`);
              return providers.head(tag);
            }
          : boundMember(providers, key),
    });
    await processOutgoingTransactions(world(), { ...context, providers: untagged });
    await anvil.untilMined();
    assert.equal((await received()) - before, 8n);
    await anvil.mine(1_000);
    await processOutgoingTransactions(world(), { ...context, providers: untagged });
    await anvil.untilMined();
    assert.equal(await statusOf(id), "signed");
    await anvil.mine(24);
    await processOutgoingTransactions(world(), { ...context, providers: untagged });
    await anvil.untilMined();
    assert.equal(await statusOf(id), "mined");
  });

  test("transactions that wait for finality do not delay new broadcasts", async () => {
    const before = await received();
    for (let index = 0; index < 51; index += 1) await storeOutgoing(1n);
    await process();
    await process();
    // One block after another is mined while they arrive; this one comes last.
    await anvil.mine(1);
    assert.equal((await received()) - before, 51n);
    const late = await storeOutgoing(1n);
    await process();
    await anvil.mine(1);
    assert.equal((await received()) - before, 52n);
    await anvil.finalize();
    await process();
    await process();
    assert.equal(await statusOf(late), "mined");
  });

  test("an attempt that every node rejects as underpriced is replaced too", async () => {
    const id = await storeOutgoing(1n);
    const stingy = new Proxy(context.providers, {
      get: (providers, key) => (key === "submit" ? async () => ({ kind: "underpriced" }) : boundMember(providers, key)),
    });
    await processOutgoingTransactions(world(), { ...context, providers: stingy });
    clockOffsetMs += 61_000;
    await process();
    const attempts = await db.root
      .selectFrom("outgoing_attempt")
      .select("attempt")
      .where("outgoing_id", "=", id)
      .execute();
    assert.equal(attempts.length, 2);
    await anvil.finalize();
    await process();
    assert.equal(await statusOf(id), "mined");
  });

  test("nonces freed by a reorg are filled by their own bytes or a cancel transaction, so later ones are mined", async () => {
    const before = await received();
    const lost = await storeOutgoing(1n);
    const [first, second] = [{ to: payer.address, data: "0x" } as const, { to: payer.address, data: "0x" } as const];
    await anvil.send(operator, [first]);
    await anvil.send(operator, [second]);
    await process();
    assert.equal(await statusOf(lost), "lost");
    const next = await storeOutgoing(1n);
    await anvil.reorg(2);
    await process();
    await anvil.mine(1);
    assert.equal((await received()) - before, 2n);
    await anvil.finalize();
    await process();
    for (const id of [lost, next]) assert.equal(await statusOf(id), "mined");
  });

  test("an attempt that no block includes is replaced by one with a higher fee", async () => {
    await anvil.client.setAutomine(false);
    const id = await storeOutgoing(20n);
    await process();
    clockOffsetMs += 61_000;
    await process();
    const attempts = await db.root
      .selectFrom("outgoing_attempt")
      .selectAll()
      .where("outgoing_id", "=", id)
      .orderBy("attempt")
      .execute();
    assert.equal(attempts.length, 2);
    const [first, second] = attempts;
    assert.ok(first && second && (second.max_fee_per_gas ?? 0n) * 10n >= (first.max_fee_per_gas ?? 0n) * 11n);
    await anvil.client.setAutomine(true);
    await anvil.mine(1);
    assert.equal(await received(), 335n + 8n + 52n + 1n + 2n);
  });
});
