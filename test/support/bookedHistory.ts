import { sql } from "kysely";
import { pino } from "pino";
import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import type { Chain } from "../../src/chain/chain.ts";
import type { BlockRef } from "../../src/chain/reader.ts";
import { openEvmNode } from "../../src/chain/evm/rpcNode.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import type { Db } from "../../src/db/database.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { movementKey, type Direction, type LocatedTransfer } from "../../src/watch/movement.ts";
import { recordMovements } from "../../src/watch/record/recordMovements.ts";
import type { WatchWorld } from "../../src/watch/watchWorld.ts";
import { bookMovements, bookRevision, isBookingComplete } from "../../src/watch/store/bookMovements.ts";
import {
  claimRevision,
  storeFinality,
  findCursor,
  orphanMovements,
  writeMovements,
} from "../../src/watch/store/store.ts";
import { FEE_RECIPIENT, insertIntent, randomAddress, TEST_TOKEN } from "./intents.ts";
import { stationWorld } from "./stationWorld.ts";

// A generated chain whose movements are booked block by block, beside what the ledger must then hold.

const CONFIRMATIONS = 3;
export const INBOXES = 2;

/** A transfer of the generated chain. `isWithheld`: its block is first reported without it. */
type GeneratedTransfer = { transfer: LocatedTransfer; isWithheld: boolean };
type GeneratedBlock = { ref: BlockRef; transfers: GeneratedTransfer[] };

/** `joins`: it is of the same transaction as the transfer before it. */
type Report = { isWithheld: boolean; joins?: boolean };
/** `bridgeFee`: the bridge gave or took the units; undefined for any other transfer. */
type BlockTransfer = Report & {
  inbox: number;
  direction: Direction;
  units: number;
  to: number;
  bridgeFee?: number | undefined;
};

export type Step =
  | { kind: "blocks"; blocks: { transfers: BlockTransfer[] }[] }
  | { kind: "reorg"; depth: number; keeps: boolean; length: number }
  | { kind: "find" }
  | { kind: "turn" }
  | { kind: "deny"; which: number };

type HistoryOptions = { tier?: { confirmations: number } | { tag: "finalized" }; batchMovementsMax?: number };

/** The generated chain, beside the reports of it. */
export class BookedHistory {
  readonly #world: WatchWorld;
  readonly #chain: Chain;
  readonly #intents: readonly IntentRow[];
  readonly #caip2: Caip2;
  #blocks: GeneratedBlock[];
  #blockCount = 0;
  /**
   * The highest block that was ever deep enough and is still canonical: on a shorter branch it is no longer deep, but
   * stays booked.
   */
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
  ): Promise<BookedHistory> {
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
    return new BookedHistory({ world, chain, intents, genesis });
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
        .flatMap(({ inbox, direction, amountUnits, crossing }) => {
          const intent = this.#intents.find(({ inbox_address }) => inbox_address === inbox);
          const units = direction === "in" ? amountUnits : -amountUnits;
          // The bridge took the fee too.
          const bridge: [string, bigint][] = crossing ? [["bridge:cctp-v2", -units - crossing.feeUnits]] : [];
          return [[`inbox:${intent?.id}`, units] as const, ...bridge];
        }),
    );
  }

  /** The booked block, and whether booking is complete. */
  async readBookedState(): Promise<{ bookedNumber: bigint; isWhole: boolean }> {
    const cursor = await findCursor(this.#world.db, this.#caip2);
    if (cursor === undefined) throw new Error("the chain was begun");
    return { bookedNumber: cursor.booked_number, isWhole: await isBookingComplete(this.#world, cursor) };
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
    return transfers.map(({ inbox, direction, units, to, bridgeFee, isWithheld, joins = false }, index) => {
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
      // A bridge gives on the settle chain and takes on the others, so an inbox has one of both.
      if (bridgeFee !== undefined && (direction === "in") === (inbox === 0))
        transfer.crossing = { crossingName: "cctp-v2/1", feeUnits: direction === "in" ? BigInt(bridgeFee) : 0n };
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
    await recordMovements(this.#world, this.#chain, {
      kind: "segment",
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
