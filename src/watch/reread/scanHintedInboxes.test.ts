import { deepEqual, equal, ok } from "node:assert/strict";
import { describe, test } from "node:test";
import type { Hex } from "viem";
import { ProviderFailed, type BlockRange } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import { addMs, systemClock } from "../../kernel/clock.ts";
import { HINT_TTL_MS } from "../../view/registerView.ts";
import { upsertViewHints } from "../../view/store.ts";
import type { TestChain } from "../../../test/support/chain.ts";
import { insertIntent } from "../../../test/support/intents.ts";
import { setUpWatchTests, startWatcher, movementsOf } from "../../../test/support/watcher.ts";
import { scanHintedInboxes } from "./scanHintedInboxes.ts";

type LogsRequest = { range: BlockRange; tokens: readonly string[]; parties: readonly string[] | undefined };

describe("scanning hinted inboxes", () => {
  let db: Db;
  let chain: TestChain;
  let usdc: Hex;
  setUpWatchTests((opened) => ({ db, chain, usdc } = opened), { checksLedger: true });

  /** A watcher whose provider omits the logs of whole blocks, but answers ranges correctly. */
  async function setUp(limit: { blocks: bigint } = { blocks: 1_000_000n }) {
    const steppedBackMs = { value: 0 };
    const questions: LogsRequest[] = [];
    const watching = await startWatcher(db, chain, (reader) => ({
      transfers: async (scope, tokens, parties) => {
        if ("blockHash" in scope) return [];
        questions.push({ range: scope, tokens, parties });
        if (scope.toBlock - scope.fromBlock >= limit.blocks) throw new ProviderFailed("range_too_large", "too large");
        return reader.transfers(scope, tokens, parties);
      },
    }));
    const sleeps: number[] = [];
    const notified: string[] = [];
    const world = {
      ...watching.world,
      clock: {
        ...systemClock,
        now: () => addMs(systemClock.now(), -steppedBackMs.value),
        sleep: async (durationMs: number) => void sleeps.push(durationMs),
      },
      wake: { notify: (topic: string) => notified.push(topic), wait: async () => {} },
    };
    return {
      steppedBackMs,
      questions,
      sleeps,
      notified,
      look: watching.watch,
      hints: () => scanHintedInboxes(world, watching.chain),
    };
  }

  async function renewHint(
    { id }: { id: string },
    token: string = usdc,
    reference = String(chain.chainId),
  ): Promise<void> {
    const expiresAt = addMs(systemClock.now(), HINT_TTL_MS);
    await upsertViewHints(db, [{ intentId: id, namespace: "eip155", reference, token, expiresAt }]);
  }

  test("D30 a payment that a provider omitted is recorded once after its payer's hint", async () => {
    const { look, hints, notified } = await setUp();
    const intent = await insertIntent(db);
    const { transactionHash } = await chain.pay(usdc, intent.inbox_address as Hex, { amountUnits: 5n });
    await look();
    deepEqual(await movementsOf(db, chain), []);
    await renewHint(intent);
    equal(await hints(), false);
    const recorded = async () => (await movementsOf(db, chain)).map((row) => [row.chain_tx, row.amount_units]);
    deepEqual(await recorded(), [[transactionHash, 5n]]);
    ok(notified.includes(`watch:${chain.caip2}`), "the head is looked at too");
    await renewHint(intent);
    await hints();
    deepEqual(await recorded(), [[transactionHash, 5n]]);
  });

  test("D30 many hints make one request, no hint makes none, and an interval lies between requests", async () => {
    const { hints, questions, sleeps, notified } = await setUp();
    await hints();
    deepEqual([questions, notified], [[], []]);
    sleeps.length = 0;
    const intents = [await insertIntent(db), await insertIntent(db), await insertIntent(db)];
    for (const intent of intents) await renewHint(intent);
    await renewHint({ id: intents[0]?.id ?? "" }, chain.dusd.address);
    await renewHint({ id: intents[0]?.id ?? "" }, usdc, "1");
    await hints();
    equal(questions.length, 1);
    deepEqual(questions[0]?.parties?.toSorted(), intents.map((intent) => intent.inbox_address).toSorted());
    deepEqual(questions[0]?.tokens.toSorted(), [usdc, chain.dusd.address].toSorted());
    await hints();
    equal(questions.length, 1);
    ok((sleeps[1] ?? 0) > 0);
  });

  test("after the clock has stepped back an hour, a new hint is scanned at once", async () => {
    const { hints, questions, steppedBackMs } = await setUp();
    const [first, second] = [await insertIntent(db), await insertIntent(db)];
    await renewHint(first);
    await hints();
    steppedBackMs.value = 3_600_000;
    const expiresAt = addMs(systemClock.now(), HINT_TTL_MS - steppedBackMs.value);
    const key = { namespace: "eip155", reference: String(chain.chainId), token: usdc };
    await upsertViewHints(db, [{ intentId: second.id, ...key, expiresAt }]);
    questions.length = 0;
    await hints();
    ok(questions[0]?.parties?.includes(second.inbox_address));
  });

  test("a transaction that is already recorded is skipped, and the others are recorded", async () => {
    const { look, hints } = await setUp();
    const intents = [await insertIntent(db), await insertIntent(db)] as const;
    const [first, second] = intents;
    await chain.pay(usdc, first.inbox_address as Hex, { amountUnits: 5n });
    await look();
    await renewHint(first);
    await hints();
    await db.transaction((tx) => tx.updateTable("movement").set({ orphaned_at: systemClock.now() }).execute());
    await chain.pay(usdc, second.inbox_address as Hex, { amountUnits: 6n });
    await look();
    for (const intent of intents) await renewHint(intent);
    await hints();
    deepEqual(
      (await movementsOf(db, chain)).map((row) => [row.amount_units, row.orphaned_at === null]),
      [
        [5n, false],
        [6n, true],
      ],
    );
  });

  test("scans shrink for a limited provider, and grow after many complete answers", async () => {
    const limit = { blocks: 40n };
    const { hints, questions, look } = await setUp(limit);
    await chain.mine(200);
    const intent = await insertIntent(db);
    await chain.pay(usdc, intent.inbox_address as Hex, { amountUnits: 5n });
    await look();
    await look();
    const sizes = () => questions.map(({ range }) => Number(range.toBlock - range.fromBlock + 1n));
    await renewHint(intent);
    questions.length = 0;
    await hints();
    deepEqual(sizes(), [100, 50, 25]);
    equal((await movementsOf(db, chain)).length, 1);
    // With a limit below four blocks nothing is found, and the next scan asks again.
    limit.blocks = 1n;
    for (const expected of [[25, 12, 6], [4], [4]]) {
      await renewHint(intent);
      questions.length = 0;
      await hints();
      deepEqual(sizes(), expected);
    }
    limit.blocks = 1_000n;
    for (let looks = 0; looks < 200 && sizes().at(-1) !== 128; looks += 1) {
      await renewHint(intent);
      await hints();
    }
    equal(sizes().at(-1), 128);
  });
});
