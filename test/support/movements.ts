import { randomAddress } from "./intents.ts";
import { sql } from "kysely";
import type { Db } from "../../src/db/database.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { caip2, type Caip2 } from "../../src/kernel/caip.ts";

// Rows as the watch station records them, for tests of stations that only read them.

export type MovementInput = {
  /** The payout's chain by default. */
  chain?: Caip2;
  chainTx: string;
  position?: number;
  direction?: "in" | "out";
  token?: string;
  counterparty?: string;
  amountUnits: bigint;
  block: bigint;
  /** Distinguishes two blocks of one height. */
  fork?: string;
  place?: number;
  orphaned?: boolean;
  /** Set where a bridge gave or took the units, with what it kept. */
  crossing?: { crossingName: string; feeUnits: bigint };
};

const SEEN_AT = new Date("2026-11-01T12:00:05Z");

/** Sets the cursor's head. */
export async function setHead(
  db: Db,
  chain: Caip2,
  head: { number: bigint; safe?: bigint; finalized?: bigint },
): Promise<void> {
  const { number, safe = -1n, finalized = -1n } = head;
  await sql`
    insert into chain_cursor (chain, genesis_hash, number, hash, safe_number, finalized_number, reread_number, revision, updated_at)
    values (${chain}, '0x00', ${number}, ${`0x${number}`}, ${safe}, ${finalized}, ${finalized}, 0, ${SEEN_AT})
    on conflict (chain) do update set number = excluded.number, hash = excluded.hash, safe_number = excluded.safe_number,
      finalized_number = excluded.finalized_number`.execute(db.root);
}

/** Records movements of one intent under one new revision of each chain, and rewrites known ones. */
export async function recordMovements(db: Db, intent: IntentRow, movements: readonly MovementInput[]): Promise<void> {
  const payoutChain = caip2(intent.payout_namespace, intent.payout_chain_reference);
  for (const [chain, onChain] of Map.groupBy(movements, (movement) => movement.chain ?? payoutChain))
    await recordOnChain(db, { chain, intent, movements: onChain });
}

async function recordOnChain(
  db: Db,
  { chain, intent, movements }: { chain: Caip2; intent: IntentRow; movements: readonly MovementInput[] },
): Promise<void> {
  await db.transaction(async (tx) => {
    const { rows } = await sql<{ revision: bigint }>`
      update chain_cursor set revision = revision + 1 where chain = ${chain} returning revision`.execute(tx);
    const revision = rows[0]?.revision ?? 0n;
    for (const movement of movements) {
      const columns = {
        counterparty: movement.counterparty ?? randomAddress(),
        amount_units: movement.amountUnits,
        block_number: movement.block,
        block_hash: `0x${movement.block}${movement.fork ?? ""}`,
        place: BigInt(movement.place ?? movement.position ?? 0),
        revision,
        orphaned_at: movement.orphaned ? SEEN_AT : null,
        explained_by: movement.crossing?.crossingName ?? null,
        bridge_fee_units: movement.crossing?.feeUnits ?? null,
      };
      await tx
        .insertInto("movement")
        .values({
          chain,
          chain_tx: movement.chainTx,
          identity: String(movement.position ?? 0),
          direction: movement.direction ?? "in",
          intent_id: intent.id,
          inbox: intent.inbox_address,
          token: movement.token ?? intent.payout_token,
          seen_at: SEEN_AT,
          ...columns,
        })
        .onConflict((conflict) =>
          conflict.columns(["chain", "chain_tx", "identity", "direction", "inbox", "token"]).doUpdateSet({
            ...columns,
            is_resized: sql<boolean>`movement.is_resized or movement.amount_units <> ${movement.amountUnits}`,
          }),
        )
        .execute();
    }
  });
}
