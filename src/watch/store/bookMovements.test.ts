import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import fc from "fast-check";
import { sql } from "kysely";
import { pino } from "pino";
import { thoroughDatabases, openTestDatabase } from "../../../test/support/database.ts";
import { FEE_RECIPIENT, insertIntent, randomAddress, TEST_TOKEN } from "../../../test/support/intents.ts";
import { assertLedgerAndWatchChecks } from "../../../test/support/ledgerAssertions.ts";
import { stationWorld } from "../../../test/support/stationWorld.ts";
import { createEvmChain } from "../../chain/evm/openEvmChain.ts";
import type { Chain } from "../../chain/chain.ts";
import type { BlockRef } from "../../chain/reader.ts";
import { openEvmNode } from "../../chain/evm/rpcNode.ts";
import { openGasAccount } from "../../chain/evm/send/gasAccount.ts";
import type { Db } from "../../db/database.ts";
import type { IntentRow } from "../../intent/store.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { systemClock } from "../../kernel/clock.ts";
import { createWake } from "../../kernel/wake.ts";
import { bookMovements, bookRevision, isBookingComplete } from "./bookMovements.ts";
import { movementKey, type Direction, type LocatedTransfer } from "../movement.ts";
import { applySegment, type WatchWorld } from "./applySegment.ts";
import { claimRevision, storeFinality, findCursor, orphanMovements, writeMovements } from "./store.ts";
import { ProcessMemory } from "../../kernel/processMemory.ts";

// Generates a chain block by block, and reports it with gaps, false blocks and reorgs. Whatever the reports, the ledger must equal the
// chain up to the booked block.

const CONFIRMATIONS = 3;
const INBOXES = 2;
const RUNS = 10;

/** A transfer of the generated chain. `isWithheld`: its block is first reported without it. */
type GeneratedTransfer = { transfer: LocatedTransfer; isWithheld: boolean };
type GeneratedBlock = { ref: BlockRef; transfers: GeneratedTransfer[] };

/** `joins`: it is of the same transaction as the transfer before it. */
type Report = { isWithheld: boolean; joins?: boolean };
type BlockTransfer = Report & { inbox: number; direction: Direction; units: number; to: number };

type Step =
  | { kind: "blocks"; blocks: { transfers: BlockTransfer[] }[] }
  | { kind: "reorg"; depth: number; keeps: boolean; length: number }
  | { kind: "find" }
  | { kind: "turn" }
  | { kind: "deny"; which: number };

const transfer = fc.record({
  inbox: fc.nat(INBOXES - 1),
  direction: fc.constantFrom<Direction>("in", "in", "out"),
  units: fc.integer({ min: 1, max: 9 }),
  to: fc.nat(2),
  isWithheld: fc.boolean(),
  joins: fc.boolean(),
});
const blocks = fc.array(fc.record({ transfers: fc.array(transfer, { maxLength: 3 }) }), { minLength: 1, maxLength: 4 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("blocks" as const), blocks }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("reorg" as const),
      depth: fc.integer({ min: 1, max: 8 }),
      keeps: fc.boolean(),
      length: fc.integer({ min: 1, max: 8 }),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "find" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deny" as const), which: fc.nat(20) }) },
);

/** Books the next batch after an interruption. */
const stepOrBooking: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: step },
  { weight: 1, arbitrary: fc.constant({ kind: "turn" as const }) },
);

for (const kind of thoroughDatabases) {
  describe(`booking a chain on ${kind}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDatabase(kind);
    });
    after(() => db.close());

    test("60 61 82 the ledger equals the chain up to the booked block, after any reports in any order", async () => {
      let runs = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 10 }), async (steps) => {
          const history = await ChainHistory.begin(db, `eip155:${(runs += 1)}`);
          for (const each of steps) {
            await history.applyStep(each);
            deepEqual(await history.booked(), history.expected());
          }
          await assertLedgerAndWatchChecks(db);
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
    });

    test("booking in batches equals the chain up to the booked block, also after a reorg between two batches", async () => {
      let runs = 0;
      let left = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(stepOrBooking, { minLength: 4, maxLength: 12 }), async (steps) => {
          const history = await ChainHistory.begin(db, `eip155:2${(runs += 1)}`, { batchMovementsMax: 2 });
          for (const each of steps) {
            await history.applyStep(each);
            const { bookedNumber, isWhole } = await history.readBookedState();
            left += isWhole ? 0 : 1;
            deepEqual(await history.booked(), history.expected(bookedNumber));
            await assertLedgerAndWatchChecks(db);
          }
          while (!(await history.readBookedState()).isWhole) await history.applyStep({ kind: "turn" });
          deepEqual(await history.booked(), history.expected((await history.readBookedState()).bookedNumber));
          await assertLedgerAndWatchChecks(db);
        }),
        { numRuns: RUNS, endOnFailure: true },
      );
      ok(left > 0, "they were left behind now and then");
    });

    test("a batch holds whole blocks, at most its limit of movements, and at least one block", async () => {
      const history = await ChainHistory.begin(db, "eip155:901", { batchMovementsMax: 4 });
      const one = { inbox: 0, direction: "in" as const, units: 1, to: 0, isWithheld: false };
      const counts = [1, 2, 2, 5, 0, 3, 0, 0, 0];
      const made = counts.map((count) => ({ transfers: Array.from({ length: count }, () => one) }));
      await history.applyStep({ kind: "blocks", blocks: made });
      const reached: bigint[] = [];
      for (let steps = 0; steps < 5; steps += 1) {
        reached.push((await history.readBookedState()).bookedNumber);
        await history.applyStep({ kind: "turn" });
      }
      deepEqual(reached, [2n, 3n, 4n, 7n, 7n]);
    });

    test("a movement replaced before its batch is booked in its new block, and a booked one is reversed", async () => {
      const history = await ChainHistory.begin(db, "eip155:902", { batchMovementsMax: 2 });
      const transfers = [1, 2].map((units) => ({
        inbox: 0,
        direction: "in" as const,
        units,
        to: 0,
        isWithheld: false,
      }));
      await history.applyStep({ kind: "blocks", blocks: [1, 2, 3, 4, 5, 6].map(() => ({ transfers })) });
      await history.applyStep({ kind: "turn" });
      equal((await history.readBookedState()).bookedNumber, 2n);
      await history.applyStep({ kind: "reorg", depth: 5, keeps: true, length: 7 });
      for (let steps = 0; steps < 5; steps += 1) {
        deepEqual(await history.booked(), history.expected((await history.readBookedState()).bookedNumber));
        await assertLedgerAndWatchChecks(db);
        await history.applyStep({ kind: "turn" });
      }
      deepEqual(await history.readBookedState(), { bookedNumber: 6n, isWhole: true });
      deepEqual(await history.booked(), history.expected());
    });

    test("a tag without final blocks keeps the booked block", async () => {
      const history = await ChainHistory.begin(db, "eip155:900", { tier: { tag: "finalized" } });
      await history.applyStep({
        kind: "blocks",
        blocks: [{ transfers: [{ inbox: 0, direction: "in", units: 5, to: 0, isWithheld: false }] }],
      });
      deepEqual(await history.booked(), {});
    });
  });
}

type HistoryOptions = { tier?: { confirmations: number } | { tag: "finalized" }; batchMovementsMax?: number };

/** The generated chain, beside the reports of it. */
class ChainHistory {
  readonly #world: WatchWorld;
  readonly #chain: Chain;
  readonly #intents: readonly IntentRow[];
  readonly #caip2: Caip2;
  #blocks: GeneratedBlock[];
  #blockCount = 0;
  /** The highest block that was ever deep enough and is still canonical: on a shorter branch it is no longer deep, but stays booked. */
  #deepest = 0n;
  /** Movements that are reported and not denied since. */
  readonly #reported = new Set<string>();

  private constructor(parts: { world: WatchWorld; chain: Chain; intents: readonly IntentRow[]; genesis: BlockRef }) {
    this.#world = parts.world;
    this.#chain = parts.chain;
    this.#caip2 = parts.chain.caip2;
    this.#intents = parts.intents;
    this.#blocks = [{ ref: parts.genesis, transfers: [] }];
  }

  static async begin(
    db: Db,
    caip2: Caip2,
    { tier = { confirmations: CONFIRMATIONS }, ...limits }: HistoryOptions = {},
  ): Promise<ChainHistory> {
    const finality = [{ upToPriceUnits: undefined, finality: tier }];
    const station = stationWorld(db, { caip2, finality });
    const world = {
      ...station,
      ...limits,
      wake: createWake(systemClock),
      memory: new ProcessMemory(),
      log: pino({ level: "silent" }),
    };
    const nodes = [openEvmNode({ caip2, rpcUrl: "http://127.0.0.1:1" })] as const;
    const chain = createEvmChain({ nodes, gasAccount: openGasAccount(`0x${"11".repeat(32)}`) }, world);
    const intents: IntentRow[] = [];
    for (let index = 0; index < INBOXES; index += 1) intents.push(await insertIntent(db));
    const genesis = { number: 0n, hash: `${caip2}/0`, parentHash: "", timestampS: 0 };
    const { number, hash, parentHash } = genesis;
    await sql`
      insert into chain_cursor (chain, genesis_hash, number, hash, reread_number, updated_at)
      values (${caip2}, '0x', ${number}, ${hash}, ${number}, ${systemClock.now()})`.execute(db.root);
    await db.root
      .insertInto("block")
      .values({ chain: caip2, number, hash, parent_hash: parentHash, orphaned_at: null })
      .execute();
    return new ChainHistory({ world, chain, intents, genesis });
  }

  async applyStep(step: Step): Promise<void> {
    switch (step.kind) {
      case "blocks":
        return this.#extend(
          this.#head(),
          step.blocks.map(({ transfers }) => this.#makeBlock(transfers)),
        );
      case "reorg":
        return this.#replace(step);
      case "find":
        return this.#rescan();
      case "turn":
        return this.#bookNextBatch();
      case "deny":
        return this.#orphanMovement(step.which);
    }
  }

  /** Each inbox's balance by the ledger, without missing transfers. */
  async booked(): Promise<Record<string, bigint>> {
    const rows = await this.#world.db.root
      .selectFrom("ledger_balance")
      .select(["holder", "balance_units"])
      .where("asset", "like", `${this.#caip2}/%`)
      .where("balance_units", "<>", 0n)
      .execute();
    return sumOf(rows.map((row) => [row.holder, row.balance_units]));
  }

  /** The same by the chain: deep enough and reported. */
  expected(upTo = this.#deepest): Record<string, bigint> {
    const deep = this.#blocks.slice(0, Number(upTo) + 1);
    return sumOf(
      transfersOf(deep)
        .filter((transfer) => this.#reported.has(movementKey(transfer)))
        .map(({ inbox, direction, amountUnits }) => {
          const intent = this.#intents.find(({ inbox_address }) => inbox_address === inbox);
          return [`inbox:${intent?.id}`, direction === "in" ? amountUnits : -amountUnits];
        }),
    );
  }

  /** The booked block, and whether booking is complete. */
  async readBookedState(): Promise<{ bookedNumber: bigint; isWhole: boolean }> {
    const cursor = await findCursor(this.#world.db, this.#caip2);
    if (cursor === undefined) throw new Error("the chain was begun");
    return { bookedNumber: cursor.booked_number, isWhole: isBookingComplete(this.#world, cursor) };
  }

  async #bookNextBatch(): Promise<void> {
    const at = systemClock.now();
    const confirmed = { chain: this.#caip2, cursor: this.#head(), safeNumber: -1n, finalizedNumber: -1n, at };
    await this.#world.db.transaction(async (tx) => {
      const cursor = await storeFinality(tx, confirmed);
      if (cursor) await bookMovements(tx, this.#world, { chain: this.#caip2, cursor, at });
    });
  }

  #head(): BlockRef {
    const last = this.#blocks.at(-1);
    if (last === undefined) throw new Error("a chain has a first block");
    return last.ref;
  }

  #makeBlock(transfers: readonly BlockTransfer[]): GeneratedTransfer[] {
    return transfers.map(({ inbox, direction, units, to, isWithheld, joins = false }, index) => {
      if (index === 0 || !joins) this.#blockCount += 1;
      const intent = this.#intents[inbox];
      if (intent === undefined) throw new Error("there is no such inbox");
      const recipient = [intent.payout_wallet, FEE_RECIPIENT, randomAddress()][to] ?? "";
      const transfer: LocatedTransfer = {
        direction,
        inbox: intent.inbox_address,
        token: TEST_TOKEN,
        counterparty: direction === "in" ? randomAddress() : recipient,
        amountUnits: BigInt(units),
        chainTx: `${this.#caip2}/tx${this.#blockCount}`,
        identity: String(index),
        place: 0n,
        blockNumber: 0n,
        blockHash: "",
      };
      return { transfer, isWithheld };
    });
  }

  /** Puts transfers into new blocks above `ancestor` and reports them in one segment. */
  async #extend(from: BlockRef, added: readonly GeneratedTransfer[][], ancestor: BlockRef = from): Promise<void> {
    this.#blocks = this.#blocks.slice(0, Number(ancestor.number) + 1);
    const blocks: BlockRef[] = [];
    for (const transfers of added) {
      const parent = this.#head();
      const number = parent.number + 1n;
      const ref = {
        number,
        hash: `${this.#caip2}/${number}/${(this.#blockCount += 1)}`,
        parentHash: parent.hash,
        timestampS: 0,
      };
      const placed = transfers.map(({ transfer, isWithheld }, index) => ({
        isWithheld,
        transfer: { ...transfer, place: BigInt(index), blockNumber: number, blockHash: ref.hash },
      }));
      this.#blocks.push({ ref, transfers: placed });
      blocks.push(ref);
    }
    const reported = this.#blocks.slice(Number(ancestor.number) + 1).flatMap(({ transfers }) => transfers);
    for (const { transfer } of reported) this.#reported.delete(movementKey(transfer));
    const located = reported.filter(({ isWithheld }) => !isWithheld).map(({ transfer }) => transfer);
    for (const transfer of located) this.#reported.add(movementKey(transfer));
    await applySegment(this.#world, this.#chain, {
      from,
      ancestorNumber: ancestor.number,
      to: this.#head(),
      blocks,
      located,
    });
    const kept = this.#deepest < ancestor.number ? this.#deepest : ancestor.number;
    const deep = this.#head().number - BigInt(CONFIRMATIONS) + 1n;
    this.#deepest = deep > kept ? deep : kept;
  }

  async #replace({ depth, keeps, length }: { depth: number; keeps: boolean; length: number }): Promise<void> {
    const from = this.#head();
    const kept = this.#blocks[Math.max(0, this.#blocks.length - 1 - depth)];
    if (kept === undefined || kept.ref.hash === from.hash) return;
    const lost = this.#blocks.slice(Number(kept.ref.number) + 1).flatMap(({ transfers }) => transfers);
    const blocks: GeneratedTransfer[][] = Array.from({ length }, () => []);
    const transactions = [...Map.groupBy(lost, ({ transfer }) => transfer.chainTx).values()];
    // Mined again in reverse order, so that places differ.
    if (keeps) for (const [index, made] of transactions.toReversed().entries()) blocks[index % length]?.push(...made);
    await this.#extend(from, blocks, kept.ref);
  }

  /** Rereads the whole chain and records missing transfers. */
  async #rescan(): Promise<void> {
    const located = transfersOf(this.#blocks);
    const at = systemClock.now();
    await this.#world.db.transaction(async (tx) => {
      const cursor = await claimRevision(tx, this.#caip2);
      if (cursor === undefined) return;
      await writeMovements(tx, { chain: this.#caip2, located, revision: cursor.revision, at });
      await bookRevision(tx, { chain: this.#caip2, cursor, at });
    });
    for (const transfer of located) this.#reported.add(movementKey(transfer));
  }

  /** Orphans a movement in a canonical block. */
  async #orphanMovement(which: number): Promise<void> {
    const reported = transfersOf(this.#blocks).filter((transfer) => this.#reported.has(movementKey(transfer)));
    const denied = reported[which % Math.max(reported.length, 1)];
    if (denied === undefined) return;
    const { chainTx, identity } = denied;
    const at = systemClock.now();
    await this.#world.db.transaction(async (tx) => {
      const cursor = await claimRevision(tx, this.#caip2);
      const rows = tx.selectFrom("movement").select("id").where("chain_tx", "=", chainTx);
      const row = await rows.where("identity", "=", identity).executeTakeFirst();
      if (cursor === undefined || row === undefined) return;
      await orphanMovements(tx, { ids: [row.id], revision: cursor.revision, at });
      await bookRevision(tx, { chain: this.#caip2, cursor, at });
    });
    this.#reported.delete(movementKey(denied));
  }
}

function transfersOf(blocks: readonly GeneratedBlock[]): LocatedTransfer[] {
  return blocks.flatMap(({ transfers }) => transfers.map(({ transfer }) => transfer));
}

function sumOf(changes: readonly (readonly [holder: string, units: bigint])[]): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  for (const [holder, units] of changes.toSorted(([one], [other]) => one.localeCompare(other))) {
    sums[holder] = (sums[holder] ?? 0n) + units;
  }
  return Object.fromEntries(Object.entries(sums).filter(([, units]) => units !== 0n));
}
