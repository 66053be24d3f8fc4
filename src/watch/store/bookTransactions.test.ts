import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { pino } from "pino";
import { thoroughDatabases, openTestDatabase } from "../../../test/support/database.ts";
import { FEE_RECIPIENT, insertIntent, randomAddress, TEST_TOKEN } from "../../../test/support/intents.ts";
import { assertLedgerAndWatchChecks } from "../../../test/support/ledgerAssertions.ts";
import { stationWorld } from "../../../test/support/stationWorld.ts";
import type { Chain } from "../../chain/chain.ts";
import { createEvmChain } from "../../chain/evm/openEvmChain.ts";
import { openEvmNode } from "../../chain/evm/rpcNode.ts";
import { openGasAccount } from "../../chain/evm/send/gasAccount.ts";
import type { BlockRef } from "../../chain/reader.ts";
import type { Db, Tx } from "../../db/database.ts";
import type { IntentRow } from "../../intent/store.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { systemClock } from "../../kernel/clock.ts";
import { ProcessMemory } from "../../kernel/processMemory.ts";
import { createWake } from "../../kernel/wake.ts";
import { assetSql } from "../../ledger/assetSql.ts";
import { postTransfers } from "../../ledger/store.ts";
import type { LocatedTransfer } from "../movement.ts";
import { recordMovements, type ChainSegment } from "../record/recordMovements.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { bookRevision } from "./bookMovements.ts";
import { advanceCursor, claimRevision, orphanMovements, writeMovements, type CursorState } from "./store.ts";

// Movements of one transaction, inbox, token and counter account share a posting. A block is booked as soon as it is
// reported.

const DUST = 1_000;

type Moved = Partial<Pick<LocatedTransfer, "direction" | "amountUnits" | "identity" | "counterparty" | "inbox">>;
type Posting = { reference: string; units: bigint; entries: number };

for (const kind of thoroughDatabases) {
  describe(`booking a transaction of many transfers on ${kind}`, () => {
    let db: Db;
    let chains = 0;
    before(async () => {
      db = await openTestDatabase(kind);
    });
    after(() => db.close());

    const begin = () => BookedChain.begin(db, `eip155:7${(chains += 1)}`);
    const dust = (count: number, amountUnits = 1n) => Array.from({ length: count }, (): Moved => ({ amountUnits }));

    test("a thousand transfers into an inbox are one posting with two entries, also after a reorg and a late one", async () => {
      const chain = await begin();
      await chain.mine({ "0xaa": dust(DUST) });
      deepEqual(await chain.postingCounts(), { postings: 1, entries: 2 });
      deepEqual(await chain.open(), [chain.posting("0xaa", "payer:world", 1_000n)]);
      await assertLedgerAndWatchChecks(db);

      await chain.reorg({});
      deepEqual([await chain.open(), await chain.held()], [[], 0n]);
      await chain.mine({ "0xaa": dust(DUST - 1, 2n) });
      deepEqual(await chain.open(), [chain.posting("0xaa", "payer:world", 1_998n)]);
      deepEqual(await chain.postingCounts(), { postings: 3, entries: 6 });
      await assertLedgerAndWatchChecks(db);

      const late = chain.locate("0xaa", { identity: "late", amountUnits: 5n });
      equal(await chain.revise((tx, { revision }) => chain.write(tx, revision, [late])), 1);
      deepEqual(await chain.open(), [chain.posting("0xaa", "payer:world", 2_003n)]);
      deepEqual([await chain.held(), await chain.postingCounts()], [2_003n, { postings: 5, entries: 10 }]);
      await assertLedgerAndWatchChecks(db);
    });

    test("a transaction that is mined again at once in another block has one open posting", async () => {
      const chain = await begin();
      await chain.mine({ "0xaa": dust(3) });
      await chain.reorg({ "0xbb": [{ amountUnits: 9n }], "0xaa": dust(3, 2n) });
      deepEqual(await chain.open(), [
        chain.posting("0xbb", "payer:world", 9n),
        chain.posting("0xaa", "payer:world", 6n),
      ]);
      await assertLedgerAndWatchChecks(db);
    });

    test("orphaning one transfer of a group books the others again, until none is left", async () => {
      const chain = await begin();
      await chain.mine({ "0xaa": [{ amountUnits: 1n }, { amountUnits: 10n }, { amountUnits: 100n }] });
      for (const [identity, left] of [
        ["1", 101n],
        ["0", 100n],
        ["2", 0n],
      ] as const) {
        const reversed = await chain.revise(async (tx, { revision }) => {
          const ids = await chain.movementIds(tx, "0xaa", identity);
          await orphanMovements(tx, { ids, revision, at: chain.at });
        });
        equal(reversed, 1);
        deepEqual(await chain.open(), left === 0n ? [] : [chain.posting("0xaa", "payer:world", left)]);
        equal(await chain.held(), left);
        await assertLedgerAndWatchChecks(db);
      }
    });

    test("inboxes, directions and counter accounts of one transaction are booked apart", async () => {
      const chain = await begin();
      const out = (counterparty: string, amountUnits: bigint): Moved => ({
        direction: "out",
        counterparty,
        amountUnits,
      });
      await chain.mine({ "0xaa": [...dust(2, 40n), { inbox: chain.other.inbox_address, amountUnits: 7n }] });
      const wallet = chain.intent.payout_wallet;
      await chain.mine({ "0xbb": [out(wallet, 10n), out(FEE_RECIPIENT, 1n), out(wallet, 20n), ...dust(1)] });
      deepEqual(await chain.open(), [
        chain.posting("0xaa", "payer:world", 80n),
        chain.postingOf(chain.other, { chainTx: "0xaa", counter: "payer:world", units: 7n }),
        chain.posting("0xbb", "payer:world", 1n),
        chain.posting("0xbb", "payout:world", -30n),
        chain.posting("0xbb", "fee:platform", -1n),
      ]);
      equal(await chain.held(), 50n);

      // Run again in another block, the transaction pays somebody else.
      await chain.reorg({ "0xbb": [out(randomAddress(), 10n), out(FEE_RECIPIENT, 1n), out(wallet, 20n), ...dust(1)] });
      deepEqual((await chain.open()).slice(2), [
        chain.posting("0xbb", "payer:world", 1n),
        chain.posting("0xbb", `suspense:${chain.caip2}`, -10n),
        chain.posting("0xbb", "fee:platform", -1n),
        chain.posting("0xbb", "payout:world", -20n),
      ]);
      equal(await chain.held(), 50n);
      await assertLedgerAndWatchChecks(db);
    });

    test("what arrives in a transaction is booked before what leaves in it, so no shortage appears in between", async () => {
      const chain = await begin();
      await chain.mine({ "0xaa": [{ amountUnits: 5n }] });
      const out: Moved = { direction: "out", counterparty: chain.intent.payout_wallet, amountUnits: 5n };
      await chain.mine({ "0xbb": [out, { amountUnits: 5n }, out] });
      equal(await chain.held(), 0n);
      ok((await chain.open()).every(({ entries }) => entries === 2));
      await assertLedgerAndWatchChecks(db);
    });

    test("postings of single movements stay valid, and a change replaces all of their group", async () => {
      const chain = await begin();
      await chain.mine(
        { "0xaa": [{ amountUnits: 1n }, { amountUnits: 10n }], "0xbb": [{ amountUnits: 100n }] },
        "alone",
      );
      const ids = await chain.movementIds(db.root, "0xaa");
      const [other] = await chain.movementIds(db.root, "0xbb");
      const alone = [
        { reference: `movement:${ids[0]}`, units: 1n, entries: 2 },
        { reference: `movement:${ids[1]}`, units: 10n, entries: 2 },
        { reference: `movement:${other}`, units: 100n, entries: 2 },
      ];
      deepEqual([await chain.open(), await chain.held()], [alone, 111n]);
      await assertLedgerAndWatchChecks(db);

      const late = chain.locate("0xaa", { identity: "late", amountUnits: 1_000n });
      equal(await chain.revise((tx, { revision }) => chain.write(tx, revision, [late])), 2);
      deepEqual(await chain.open(), [alone[2], chain.posting("0xaa", "payer:world", 1_011n)]);
      equal(await chain.held(), 1_111n);
      await assertLedgerAndWatchChecks(db);

      await chain.reorg({ "0xbb": [{ amountUnits: 100n }] });
      deepEqual([await chain.open(), await chain.held()], [[chain.posting("0xbb", "payer:world", 100n)], 100n]);
      await assertLedgerAndWatchChecks(db);
    });

    test("a transaction reported in two blocks is one posting, and is booked again after each change", async () => {
      for (const form of ["grouped", "alone"] as const) {
        const chain = await begin();
        await chain.mine({ "0xaa": [{ amountUnits: 1n }] }, form);
        const changed = chain.locate("0xaa", { amountUnits: 2n });
        await chain.mine({ "0xaa": [{ amountUnits: 10n, identity: "beside" }] }, "unbooked");
        equal(await chain.revise((tx, { revision }) => chain.write(tx, revision, [changed])), 1);
        deepEqual(await chain.open(), [chain.posting("0xaa", "payer:world", 2n)]);
        await chain.mine({});
        deepEqual(await chain.open(), [chain.posting("0xaa", "payer:world", 12n)]);
        await chain.mine({ "0xaa": [{ amountUnits: 100n, identity: "third" }] });
        deepEqual([await chain.open(), await chain.held()], [[chain.posting("0xaa", "payer:world", 112n)], 112n]);
        await assertLedgerAndWatchChecks(db);
        await chain.reorg({});
        deepEqual([await chain.open(), await chain.held()], [[chain.posting("0xaa", "payer:world", 12n)], 12n]);
        await assertLedgerAndWatchChecks(db);
      }
    });
  });
}

/** A chain whose blocks are booked when they are reported. */
class BookedChain {
  readonly at = systemClock.now();
  readonly caip2: Caip2;
  readonly intent: IntentRow;
  readonly other: IntentRow;
  readonly #world: WatchWorld;
  readonly #chain: Chain;
  #blocks: BlockRef[];
  #hashes = 0;

  private constructor(parts: { world: WatchWorld; chain: Chain; intents: [IntentRow, IntentRow]; genesis: BlockRef }) {
    this.#world = parts.world;
    this.#chain = parts.chain;
    this.caip2 = parts.chain.caip2;
    [this.intent, this.other] = parts.intents;
    this.#blocks = [parts.genesis];
  }

  static async begin(db: Db, caip2: Caip2): Promise<BookedChain> {
    const finality = [{ upToPriceUnits: undefined, finality: { confirmations: 1 } }];
    const log = pino({ level: "silent" });
    const station = { ...stationWorld(db, { caip2, finality }), log };
    const world = { ...station, wake: createWake(systemClock), memory: new ProcessMemory() };
    const nodes = [openEvmNode({ caip2, rpcUrl: "http://127.0.0.1:1" })] as const;
    const chain = createEvmChain({ nodes, gasAccount: openGasAccount(`0x${"11".repeat(32)}`) }, world);
    const genesis = { number: 0n, hash: `${caip2}/0`, parentHash: "", timestampS: 0 };
    await sql`
      insert into chain_cursor (chain, genesis_hash, number, hash, reread_number, updated_at)
      values (${caip2}, '0x', 0, ${genesis.hash}, 0, ${systemClock.now()})`.execute(db.root);
    await db.root
      .insertInto("block")
      .values({ chain: caip2, number: 0n, hash: genesis.hash, parent_hash: "", orphaned_at: null })
      .execute();
    return new BookedChain({ world, chain, intents: [await insertIntent(db), await insertIntent(db)], genesis });
  }

  /** Reports a block with these transactions. */
  async mine(
    transactions: Record<string, Moved[]>,
    booking: "grouped" | "alone" | "unbooked" = "grouped",
  ): Promise<void> {
    const segment = this.#extend(this.#head(), transactions);
    if (booking === "grouped") {
      ok(await recordMovements(this.#world, this.#chain, { kind: "segment", ...segment }));
      return;
    }
    const { db } = this.#world;
    ok(await db.transaction((tx) => advanceCursor(tx, { chain: this.caip2, ...segment, at: this.at })));
    if (booking === "unbooked") return;
    await sql`update chain_cursor set booked_number = number where chain = ${this.caip2}`.execute(db.root);
    await this.#world.db.transaction((tx) => this.#bookAlone(tx));
  }

  /** Replaces the head by a block with these transactions. */
  async reorg(transactions: Record<string, Moved[]>): Promise<void> {
    const [from] = this.#blocks.splice(-1);
    if (from === undefined) throw new Error("a chain has a first block");
    ok(
      await recordMovements(this.#world, this.#chain, {
        kind: "segment",
        ...this.#extend(this.#head(), transactions),
        from,
      }),
    );
  }

  /** Changes movements under a new revision and corrects the ledger. Returns the number of reversals. */
  async revise(change: (tx: Tx, cursor: CursorState) => Promise<unknown>): Promise<number> {
    return this.#world.db.transaction(async (tx) => {
      const cursor = await claimRevision(tx, this.caip2);
      if (cursor === undefined) throw new Error("the chain was begun");
      await change(tx, cursor);
      return bookRevision(tx, { chain: this.caip2, cursor, at: this.at });
    });
  }

  write(tx: Tx, revision: bigint, located: readonly LocatedTransfer[]): Promise<unknown> {
    return writeMovements(tx, { chain: this.caip2, located, revision, at: this.at });
  }

  /** A transfer in the head block. */
  locate(chainTx: string, moved: Moved, index = 0): LocatedTransfer {
    const { number, hash } = this.#head();
    const placed = { place: BigInt(index), blockNumber: number, blockHash: hash, identity: String(index) };
    const defaults = { direction: "in" as const, inbox: this.intent.inbox_address, counterparty: randomAddress() };
    return { ...placed, ...defaults, token: TEST_TOKEN, amountUnits: 1n, chainTx, ...moved };
  }

  /** The open posting of a group; `units` is the gain of the inbox. */
  posting(chainTx: string, counter: string, units: bigint): Posting {
    return this.postingOf(this.intent, { chainTx, counter, units });
  }

  postingOf({ id }: IntentRow, group: { chainTx: string; counter: string; units: bigint }): Posting {
    const { chainTx, counter, units } = group;
    return { reference: `transfers:${this.caip2}/${chainTx}/${id}/${TEST_TOKEN}/${counter}`, units, entries: 2 };
  }

  /** All open postings, in booking order. */
  async open(): Promise<Posting[]> {
    const { rows } = await sql<Posting>`
      select posting.reference, -counter.amount_units as units, posting.entry_count as entries
      from ledger_posting posting join ledger_entry counter on counter.posting_id = posting.id and counter.place = 1
      where posting.chain = ${this.caip2} and posting.reverses is null
        and not exists (select from ledger_posting reversal where reversal.reverses = posting.id)
      order by posting.id`.execute(this.#world.db.root);
    return rows;
  }

  async postingCounts(): Promise<{ postings: number; entries: number }> {
    const { rows } = await sql<{ postings: number; entries: number }>`
      select count(*)::int as postings, sum(entry_count)::int as entries from ledger_posting where chain = ${this.caip2}`.execute(
      this.#world.db.root,
    );
    return rows[0] ?? { postings: 0, entries: 0 };
  }

  /** The inbox's balance. */
  async held(): Promise<bigint> {
    const balances = await this.#world.db.root
      .selectFrom("ledger_balance")
      .select("balance_units")
      .where("account", "=", `inbox:${this.intent.id}`)
      .execute();
    return balances.reduce((sum, { balance_units: units }) => sum + units, 0n);
  }

  async movementIds(tx: Tx | Db["root"], chainTx: string, identity?: string): Promise<bigint[]> {
    const rows = await tx
      .selectFrom("movement")
      .select("id")
      .where("chain", "=", this.caip2)
      .where("chain_tx", "=", chainTx)
      .$if(identity !== undefined, (select) => select.where("identity", "=", identity ?? ""))
      .orderBy("id")
      .execute();
    return rows.map(({ id }) => id);
  }

  #head(): BlockRef {
    const last = this.#blocks.at(-1);
    if (last === undefined) throw new Error("a chain has a first block");
    return last;
  }

  #extend(ancestor: BlockRef, transactions: Record<string, Moved[]>): ChainSegment {
    const number = ancestor.number + 1n;
    const hash = `${this.caip2}/${number}/${(this.#hashes += 1)}`;
    const block = { number, hash, parentHash: ancestor.hash, timestampS: 0 };
    this.#blocks.push(block);
    const moves = Object.entries(transactions).flatMap(([chainTx, moved]) => moved.map((one) => ({ chainTx, one })));
    const located = moves.map(({ chainTx, one }, index) => this.locate(chainTx, one, index));
    return { from: ancestor, ancestorNumber: ancestor.number, to: block, blocks: [block], located };
  }

  /** Books the head's movements as earlier versions did. */
  async #bookAlone(tx: Tx): Promise<void> {
    const transfers = sql`
      select 'movement:' || id as reference, revision as version, null::bigint as reverses, 'inbox:' || intent_id as custody,
        'payer:world' as counter, ${assetSql(sql`chain`, sql`token`)} as asset, amount_units as change_units,
        chain, chain_tx, block_number, place
      from movement where chain = ${this.caip2} and block_number = ${this.#head().number}`;
    await postTransfers(tx, { transfers, name: "book_alone", at: this.at });
  }
}
