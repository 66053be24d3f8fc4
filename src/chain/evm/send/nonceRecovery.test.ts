import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { pino } from "pino";
import type { Hex } from "viem";
import { startTestChain, type TestChain } from "../../../../test/support/chain.ts";
import { openTestDatabase } from "../../../../test/support/database.ts";
import { DEV_ACCOUNTS } from "../../../dev/devAccounts.ts";
import type { Db } from "../../../db/database.ts";
import { addMs, systemClock, type Clock } from "../../../kernel/clock.ts";
import { ProviderFailed } from "../../reader.ts";
import type { EvmNode, SubmitOutcome } from "../node.ts";
import { EvmProviders } from "../evmProviders.ts";
import { createSenderContext, type SenderContext } from "./senderContext.ts";
import { openEvmNode } from "../rpcNode.ts";
import { openGasAccount } from "./gasAccount.ts";
import { quoteCall, signAndStore } from "./signAndStore.ts";
import { processOutgoingTransactions } from "./processOutgoingTransactions.ts";

const { payer } = DEV_ACCOUNTS;
const EMPTY_CALL = { to: payer.address, data: "0x" };
const HUGE_NONCE = 10_000n;

/** A provider's answers instead of its node's. */
type ProviderOverrides = Partial<Pick<EvmNode, "submit" | "nonce" | "receipt" | "fees">> & { submitCount: number };

describe("outgoing transactions with unreliable providers", () => {
  let anvil: TestChain;
  let db: Db;
  let chain: SenderContext;
  let overrides: readonly [ProviderOverrides, ProviderOverrides, ProviderOverrides];
  let nextKey = 0x100n;
  let clockOffsetMs = 0;
  const clock: Clock = { ...systemClock, now: () => addMs(systemClock.now(), clockOffsetMs) };
  let alarms: string[] = [];
  const log = pino({ level: "error" }, { write: (line: string) => void alarms.push(line) });
  const world = () => ({ db, clock, log });

  before(async () => {
    anvil = await startTestChain();
  });
  after(() => anvil.stop());
  beforeEach(async () => {
    db = await openTestDatabase("postgres");
    overrides = [{ submitCount: 0 }, { submitCount: 0 }, { submitCount: 0 }];
    alarms = [];
    chain = await openWithNewGasAccount();
  });
  afterEach(() => db.close());

  function openOverriddenNode(name: string, override: ProviderOverrides): EvmNode {
    const node = openEvmNode({ caip2: anvil.caip2, rpcUrl: anvil.rpcUrl });
    return new Proxy(node, {
      get: (target, key) => {
        if (key === "name") return name;
        if (key === "submit") override.submitCount += 1;
        const own: unknown = Reflect.get(override, key);
        if (own !== undefined) return own;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }

  /** The chain with a gas account that has sent nothing. */
  async function openWithNewGasAccount(count = 3): Promise<SenderContext> {
    nextKey += 1n;
    const gasAccount = openGasAccount(`0x${nextKey.toString(16).padStart(64, "0")}`);
    await fund(gasAccount.address, 10n ** 18n);
    const nodes = overrides.slice(0, count).map((override, index) => openOverriddenNode(`provider-${index}`, override));
    const providers = new EvmProviders(nodes as [EvmNode, ...EvmNode[]], { clock, log });
    return createSenderContext(providers, gasAccount);
  }

  const fund = (address: string, value: bigint) => anvil.client.setBalance({ address: address as Hex, value });
  /** The number of mined transactions, once the chain has mined what it accepted. */
  const nonce = async (of = chain) => {
    const address = of.gasAccount.address as Hex;
    const acceptedCount = await anvil.client.getTransactionCount({ address, blockTag: "pending" });
    for (;;) {
      const minedCount = await anvil.client.getTransactionCount({ address });
      if (minedCount >= acceptedCount) return minedCount;
    }
  };
  async function storeOutgoing(call = EMPTY_CALL): Promise<bigint> {
    const quote = await quoteCall(world(), chain, call);
    assert.ok(quote);
    return db.transaction((tx) => signAndStore(tx, chain, { call, quote, at: clock.now() }));
  }
  const process = async () => {
    await processOutgoingTransactions(world(), chain);
    await anvil.untilMined();
  };
  async function processFor(minutes: number): Promise<void> {
    for (let half = 0; half < 2 * minutes; half += 1) {
      await process();
      clockOffsetMs += 30_000;
    }
  }
  const statusOf = async (id: bigint) =>
    (await db.root.selectFrom("outgoing_transaction").select("status").where("id", "=", id).executeTakeFirstOrThrow())
      .status;
  const attemptsOf = (id: bigint) =>
    db.root.selectFrom("outgoing_attempt").selectAll().where("outgoing_id", "=", id).execute();
  const listOutgoing = () => db.root.selectFrom("outgoing_transaction").selectAll().orderBy("id").execute();
  async function overrideSubmit(submit: (raw: string, honest: EvmNode) => Promise<SubmitOutcome>): Promise<void> {
    const honest = openEvmNode({ caip2: anvil.caip2, rpcUrl: anvil.rpcUrl });
    for (const override of overrides) override.submit = (raw) => submit(raw, honest);
  }

  for (const outcome of [
    { kind: "untakeable", reason: "tx fee (1.27 ether) exceeds the configured cap (1.00 ether)" },
    { kind: "unknown", reason: "an unrecognized text", hasNodeReply: true },
  ] as const) {
    test(`a transaction that every node rejects as ${outcome.kind} is closed, and a cancel transaction takes its nonce`, async () => {
      const refused = await storeOutgoing();
      const behind = await storeOutgoing();
      const [bytes] = await attemptsOf(refused);
      await overrideSubmit(async (raw, honest) => (raw === bytes?.raw ? outcome : honest.submit(raw)));
      await processFor(4);
      assert.equal(await statusOf(refused), "signed", "a full pool or a lagging node is no reason yet");
      assert.equal(await nonce(), 0);
      await processFor(3);
      await anvil.finalize();
      await process();
      assert.equal(await statusOf(refused), "lost");
      assert.equal(await statusOf(behind), "mined");
      const [, , nothing, ...more] = await listOutgoing();
      assert.equal(more.length, 0);
      assert.deepEqual(
        [nothing?.nonce, nothing?.recipient, nothing?.data, nothing?.status],
        [0n, chain.gasAccount.address, "0x", "mined"],
      );
    });
  }

  test("closing needs both many rejections and a long time", async () => {
    const id = await storeOutgoing();
    await overrideSubmit(async () => ({ kind: "unknown", reason: "txpool is full", hasNodeReply: true }));
    for (let turn = 0; turn < 30; turn += 1) await process();
    assert.equal(await statusOf(id), "signed");
    const late = await openWithNewGasAccount();
    chain = late;
    const rare = await storeOutgoing();
    await process();
    clockOffsetMs += 3_600_000;
    await process();
    assert.equal(await statusOf(rare), "signed");
  });

  test("a transaction without an answer, or without gas, is never closed", async () => {
    const id = await storeOutgoing();
    await overrideSubmit(async () => ({ kind: "unknown", reason: "took too long" }));
    await processFor(30);
    await overrideSubmit(async () => ({ kind: "no_funds" }));
    await processFor(30);
    assert.equal(await statusOf(id), "signed");
    assert.equal((await listOutgoing()).length, 1);
  });

  test("a transaction behind another nonce is never closed, whatever nodes answer", async () => {
    const first = await storeOutgoing();
    const second = await storeOutgoing();
    const [bytes] = await attemptsOf(first);
    await overrideSubmit(async (raw) =>
      raw === bytes?.raw ? { kind: "no_funds" } : { kind: "unknown", reason: "nonce too high", hasNodeReply: true },
    );
    await processFor(20);
    assert.equal(await statusOf(second), "signed");
    await overrideSubmit((raw, honest) => honest.submit(raw));
    await process();
    assert.equal(await nonce(), 2);
  });

  test("a replaced account's transaction without gas is closed with all later ones, and nothing is paid", async () => {
    const old = chain;
    const ids = [await storeOutgoing(), await storeOutgoing()];
    await fund(old.gasAccount.address, 1n);
    await processFor(10);
    for (const id of ids) assert.equal(await statusOf(id), "signed", "gas may come yet");
    chain = await openWithNewGasAccount();
    const next = await storeOutgoing();
    await processFor(10);
    for (const id of ids) assert.equal(await statusOf(id), "lost");
    assert.equal((await listOutgoing()).length, 3);
    assert.equal(await nonce(), 1);
    assert.equal(await nonce(old), 0);
    assert.equal(await statusOf(next), "signed");
  });

  test("a provider that accepts without propagating is not the only one to receive a transaction", async () => {
    overrides[0].submit = async () => ({ kind: "accepted" });
    const id = await storeOutgoing();
    await process();
    assert.deepEqual(
      overrides.map(({ submitCount }) => submitCount),
      [1, 0, 0],
    );
    assert.equal(await nonce(), 0);
    await process();
    assert.equal(await nonce(), 1);
    assert.equal((await attemptsOf(id)).length, 1);
    await storeOutgoing();
    await process();
    clockOffsetMs += 61_000;
    await process();
    assert.equal(await nonce(), 2, "a better paid one goes to all of them at once");
  });

  test("only the transaction with the next nonce gets a higher fee", async () => {
    await anvil.client.setAutomine(false);
    const [first, second] = [await storeOutgoing(), await storeOutgoing()];
    await process();
    clockOffsetMs += 61_000;
    await process();
    await anvil.client.setAutomine(true);
    await anvil.mine(1);
    assert.deepEqual([(await attemptsOf(first)).length, (await attemptsOf(second)).length], [2, 1]);
    assert.equal(await nonce(), 2);
  });

  test("one provider's nonce neither closes a transaction nor raises the next nonce", async () => {
    overrides[0].nonce = async () => HUGE_NONCE;
    overrides[0].receipt = async () => undefined;
    const id = await storeOutgoing();
    await overrideSubmit(async () => ({ kind: "nonce_used" }));
    await process();
    await process();
    assert.equal(await statusOf(id), "signed");
    const account = await db.root.selectFrom("gas_account").selectAll().executeTakeFirstOrThrow();
    assert.equal(account.next_nonce, 1n);
    await overrideSubmit((raw, honest) => honest.submit(raw));
    await process();
    assert.equal(await nonce(), 1);
    assert.equal((await listOutgoing()).length, 1);
  });

  test("a nonce is abandoned only when a second provider confirms it", async () => {
    chain = await openWithNewGasAccount(2);
    const id = await storeOutgoing();
    overrides[1].nonce = () => Promise.reject(new ProviderFailed("unreachable", "refused"));
    overrides[0].nonce = async () => 3n;
    overrides[0].submit = overrides[1].submit = async () => ({ kind: "nonce_used" });
    await process();
    assert.equal(await statusOf(id), "signed");
    overrides[1].nonce = async () => 2n;
    await process();
    assert.equal(await statusOf(id), "lost");
    const account = await db.root.selectFrom("gas_account").selectAll().executeTakeFirstOrThrow();
    assert.equal(account.next_nonce, 2n, "the lowest answer");
  });

  test("a long row of unused nonces is not cancelled, and logs an alarm", async () => {
    await storeOutgoing();
    await process();
    await db.root.updateTable("gas_account").set({ next_nonce: HUGE_NONCE }).execute();
    await storeOutgoing();
    await process();
    await process();
    assert.equal((await listOutgoing()).length, 2);
    assert.equal(await nonce(), 1);
    assert.ok(alarms.some((line) => line.includes("nonces are missing")));
  });

  test("a few missing nonces are filled", async () => {
    await storeOutgoing();
    await db.root.updateTable("gas_account").set({ next_nonce: 4n }).execute();
    await storeOutgoing();
    await process();
    await process();
    assert.equal(await nonce(), 5);
  });

  test("while fees exceed the ceiling, no missing nonce is filled and no rejected transaction is cancelled", async () => {
    const expensive = async () => ({ baseFeePerGas: 10n ** 13n, maxPriorityFeePerGas: 1n });
    const setFees = (fees: EvmNode["fees"] | undefined) => {
      for (const override of overrides) {
        if (fees) override.fees = fees;
        else delete override.fees;
      }
    };
    await storeOutgoing();
    await db.root.updateTable("gas_account").set({ next_nonce: 4n }).execute();
    const rejected = await storeOutgoing();
    setFees(expensive);
    await process();
    await process();
    assert.equal((await listOutgoing()).length, 2);
    assert.equal(alarms.filter((line) => line.includes("gas_price_above_ceiling")).length, 1);
    setFees(undefined);
    await process();
    await process();
    assert.equal(await nonce(), 5);
    const [bytes] = await attemptsOf(rejected);
    assert.ok(bytes);
    const next = await storeOutgoing();
    setFees(expensive);
    await overrideSubmit(async () => ({ kind: "untakeable", reason: "over the node's limit" }));
    await processFor(7);
    assert.equal(await statusOf(next), "signed");
    for (const override of overrides) delete override.submit;
    setFees(undefined);
    await process();
    assert.equal(await nonce(), 6);
  });

  test("an accepted broadcast resets the count of rejections", async () => {
    const id = await storeOutgoing();
    let isFull = true;
    await overrideSubmit(async (raw, honest) =>
      isFull ? { kind: "unknown", reason: "txpool is full", hasNodeReply: true } : honest.submit(raw),
    );
    await processFor(4);
    isFull = false;
    await anvil.client.setAutomine(false);
    await process();
    isFull = true;
    await processFor(2);
    await anvil.client.setAutomine(true);
    await anvil.mine(1);
    assert.equal(await statusOf(id), "signed");
    assert.equal((await listOutgoing()).length, 1);
  });
});
