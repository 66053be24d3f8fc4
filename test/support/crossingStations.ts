import { deepEqual } from "node:assert/strict";
import { after, before } from "node:test";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import type { EvmChainConfig } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import { depositChecks } from "../../src/deposit/checks.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { createIntent } from "../../src/intent/createIntent.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";
import { runChecks } from "../../src/ledger/check.ts";
import { createAccount } from "../../src/merchant/createAccount.ts";
import type { AccountRow } from "../../src/merchant/store.ts";
import { settlementChecks } from "../../src/settlement/checks.ts";
import { landCrossings } from "../../src/settlement/crossing/landCrossings.ts";
import { observeSettlements } from "../../src/settlement/observe/observeSettlements.ts";
import { planSettlements } from "../../src/settlement/planSettlements.ts";
import { replanSettlements } from "../../src/settlement/replanSettlements.ts";
import { settlementRecord } from "../../src/settlement/change/settlementRecord.ts";
import { bookRevision } from "../../src/watch/store/bookMovements.ts";
import { bridgedChains } from "./bridgedConfig.ts";
import { countMoney } from "./countMoney.ts";
import { openTestDatabase, type databases } from "./database.ts";
import { randomAddress } from "./intents.ts";
import { recordMovements, setHead, type MovementInput } from "./movements.ts";
import { stationWorld, type StationWorld } from "./stationWorld.ts";

// The stations from deposits to landed crossings over recorded movements, without chains. Every station runs by hand.

export const HOME: Caip2 = "eip155:31337";
export const AWAY: Caip2 = "eip155:31338";
export const OTHER: Caip2 = "eip155:31339";
/** The last block of every chain. */
export const HEAD = 1_000n;
export const USDC = 1_000_000n;
const FEE_BPS = 50;

let count = 0;
export const newId = () => (count += 1).toString(16).padStart(64, "0");
export const newChainTx = () => `0xcc${newId().slice(2)}`;

/** For the body of a `describe`: opens the stations before its tests, and closes them after. */
export function useCrossingStations(
  kind: (typeof databases)[number],
  { agreement }: Pick<Partial<EvmChainConfig>, "agreement"> = {},
) {
  let db: Db;
  let world: StationWorld;
  let account: AccountRow;
  before(async () => {
    db = await openTestDatabase(kind);
    const base = stationWorld(db);
    const config = {
      ...base.config,
      chains: bridgedChains().map((chain) => ({ ...chain, ...(agreement && { agreement }) })),
    };
    world = { ...base, config, catalog: buildCatalog(config) };
    for (const chain of [HOME, AWAY, OTHER]) await setHead(db, chain, { number: HEAD, finalized: HEAD });
    const payout = {
      namespace: "eip155",
      chainReference: "31337",
      wallet: randomAddress(),
      currency: "USDC",
    } as const;
    account = await createAccount(world, { name: "Bridged", payout, feeBps: FEE_BPS });
  });
  after(() => db.close());

  const record = (intent: IntentRow, movements: MovementInput[]) => recordMovements(db, intent, movements);
  const create = async (input: Parameters<typeof createIntent>[2]["input"] = {}) =>
    (await createIntent(db.root, world, { account, input })).intent;
  const settlementsOf = async ({ id }: IntentRow) => {
    const rows = await db.root
      .selectFrom("settlement")
      .selectAll()
      .where("intent_id", "=", id)
      .orderBy("seq")
      .execute();
    return rows.map((row) => {
      const { status, grossUnits, routeCostUnits, feeUnits, netUnits, txs } = settlementRecord(row);
      return {
        status,
        chain: row.chain,
        amounts: [grossUnits, routeCostUnits, feeUnits, netUnits],
        txs: txs.map(({ chain, txHash }) => `${chain} ${txHash}`),
      };
    });
  };
  const intentOf = ({ id }: IntentRow) =>
    db.root.selectFrom("intent").selectAll().where("id", "=", id).executeTakeFirstOrThrow();

  const assertChecks = async () => deepEqual(await runChecks(db, [...settlementChecks, ...depositChecks]), []);

  /** Every station once, on all chains. */
  async function work(): Promise<void> {
    for (const chain of [AWAY, OTHER, HOME]) {
      await processMovements(world, chain);
      await countMoney(world, chain);
      await observeSettlements(world, chain);
      await planSettlements(world, chain);
    }
    while ((await landCrossings(world, HOME)) > 0);
  }
  const pay = (intent: IntentRow, chain: Caip2, amountUnits: bigint) =>
    recordMovements(db, intent, [{ chain, chainTx: newChainTx(), amountUnits, block: 100n }]);

  /** Books the movements that were recorded last on a chain. */
  async function bookLatest(chain: Caip2, bookedNumber = HEAD): Promise<void> {
    await db.transaction(async (tx) => {
      const { revision } = await tx
        .selectFrom("chain_cursor")
        .select("revision")
        .where("chain", "=", chain)
        .executeTakeFirstOrThrow();
      const cursor = { revision, number: HEAD, safeNumber: HEAD, finalizedNumber: HEAD, bookedNumber };
      await bookRevision(tx, { chain, cursor, at: world.clock.now() });
    });
  }

  /** The bridge takes the inbox's money on the origin. Returns the burn's transaction. */
  async function burn(intent: IntentRow, movement: Partial<MovementInput> & { amountUnits: bigint }): Promise<string> {
    const chainTx = movement.chainTx ?? newChainTx();
    const crossing = { crossingName: "cctp-v2/0", feeUnits: 0n };
    const taken = { chain: AWAY, chainTx, direction: "out" as const, block: 200n, crossing, ...movement };
    await recordMovements(db, intent, [taken]);
    return chainTx;
  }
  /** What the attestation service tells of a burn. Returns the mint's name. */
  async function attest(burnTx: string, domain: number, name?: string): Promise<string> {
    const mint = name ?? `cctp-v2/${domain}/0x${newId()}`;
    await db.root
      .updateTable("crossing")
      .set({ status: "attested", mint, message: "0x", attestation: "0x" })
      .where("chain_tx", "=", burnTx)
      .execute();
    return mint;
  }
  const minted = (name: string, [units, feeUnits]: [bigint, bigint], more: Partial<MovementInput>): MovementInput => ({
    chainTx: newChainTx(),
    amountUnits: units - feeUnits,
    block: 300n,
    crossing: { crossingName: name, feeUnits },
    ...more,
  });
  function swept(
    intent: IntentRow,
    gross: bigint,
    more: { chainTx: string; block: bigint; orphaned?: boolean; fork?: string },
  ): MovementInput[] {
    const fee = (gross * BigInt(FEE_BPS)) / 10_000n;
    const out = { direction: "out" as const, ...more };
    return [
      { ...out, position: 10, counterparty: intent.payout_wallet, amountUnits: gross - fee },
      { ...out, position: 11, counterparty: intent.fee_recipient, amountUnits: fee },
    ];
  }

  /** Signs a transaction for the intent's planned settlement on its settle chain. */
  async function submit({ id: intent }: IntentRow): Promise<bigint> {
    const signed = { chain: HOME, sender: "payer", status: "signed", created_at: world.clock.now() } as const;
    const { id } = await db.root
      .insertInto("outgoing_transaction")
      .values(signed)
      .returning("id")
      .executeTakeFirstOrThrow();
    await db.root
      .updateTable("settlement")
      .set({ status: "submitted", outgoing_id: id, submitted_at: world.clock.now() })
      .where("intent_id", "=", intent)
      .where("chain", "=", HOME)
      .where("status", "=", "planned")
      .execute();
    return id;
  }
  async function close(id: bigint, { chainTx, block }: { chainTx: string; block: bigint }): Promise<void> {
    await db.root
      .updateTable("outgoing_transaction")
      .set({ status: "mined", mined_chain_tx: chainTx, mined_block_number: block, closed_at: world.clock.now() })
      .where("id", "=", id)
      .execute();
  }
  const replan = () => replanSettlements(world, HOME);

  return {
    get db() {
      return db;
    },
    get world() {
      return world;
    },
    record,
    create,
    settlementsOf,
    intentOf,
    assertChecks,
    work,
    pay,
    bookLatest,
    burn,
    attest,
    minted,
    swept,
    submit,
    close,
    replan,
  };
}
