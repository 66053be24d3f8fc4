import { arrivalsByRevision } from "../../watch/store/namedIndexes.ts";
import { sql, type RawBuilder } from "kysely";
import type { Tx } from "../../db/database.ts";
import { array, unnest } from "../../db/parameters.ts";
import type { ConsumerCursorTable } from "../../handover/handoverTables.ts";
import { lowestPostponedOf } from "../../watch/postponed/postponedStore.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { DepositRow } from "../deposit.ts";
import { IS_UNDECIDED } from "../deposit.ts";

// The statements that read the facts of intents. The caller holds the locks of the intents, so their deposits and
// holdings stay as they are.

/**
 * SQL for the chains of intents: where they have holdings or undecided deposits, and one that the caller names. What
 * counted has a holding.
 */
const chainsOf = (intentIds: readonly string[], chain: Caip2) => sql`
  select held.intent_id, held.chain from unnest(${array(intentIds, "text")}) as asked (intent_id)
    cross join lateral (select * from holding where holding.intent_id = asked.intent_id offset 0) as held
  union select deposit.intent_id, deposit.chain from deposit
    where deposit.intent_id = any(${array(intentIds, "text")}) and ${IS_UNDECIDED}
  union select named.intent_id, ${chain} from unnest(${array(intentIds, "text")}) as named (intent_id)`;

export type FactScope = {
  intentIds: readonly string[];
  /** The chain whose loop decides. */
  chain: Caip2;
};

/** SQL for the names of these chains. */
export const chainNamesOf = ({ intentIds, chain }: FactScope): RawBuilder<unknown> =>
  sql`select found.chain from (${chainsOf(intentIds, chain)}) as found`;

export type IntentChain = { intentId: string; chain: Caip2; isBehind: boolean; postponedBlock: bigint | null };

/**
 * The chains of these intents, and whether movements of the intent wait there beyond the station's cursor, or it is
 * quarantined: its deposits do not match the chain yet. `upto` is the cursor of the caller's chain after its batch.
 * Other cursors are read, not locked. What watch has postponed is of the same moment: it becomes a movement first, and
 * its row ends then.
 */
export async function listIntentChains(
  tx: Tx,
  { intentIds, chain }: FactScope,
  upto: ConsumerCursorTable | undefined,
): Promise<IntentChain[]> {
  const [revision, movementId] = [upto?.revision ?? null, upto?.movement_id ?? null];
  const { rows } = await sql<IntentChain>`
    select named.intent_id as "intentId", named.chain, exists (
        select from movement where ${arrivalsByRevision({ intentId: sql.ref("named.intent_id"), chain: sql.ref("named.chain") })}
          and (movement.revision, movement.id) > (named.revision, named.movement_id)
      ) or exists (
        select from quarantine where quarantine.station = 'deposit' and quarantine.chain = named.chain
          and quarantine.intent_id = named.intent_id) as "isBehind",
      ${lowestPostponedOf({ intentId: sql.ref("named.intent_id"), chain: sql.ref("named.chain") })} as "postponedBlock"
    from (
      select found.intent_id, found.chain,
        coalesce(case found.chain when ${chain} then ${revision}::int8 end, deposit_cursor.revision, 0) as revision,
        coalesce(case found.chain when ${chain} then ${movementId}::int8 end, deposit_cursor.movement_id, 0) as movement_id
      from (${chainsOf(intentIds, chain)}) as found left join deposit_cursor on deposit_cursor.chain = found.chain
    ) as named`.execute(tx);
  return rows;
}

/**
 * The deposits that decide what counts for these intents: those in no final state, those above the given block of their
 * chain, which a reorg may still drop, and those of the given movements.
 */
export async function listDepositsToDecide(
  tx: Tx,
  scope: {
    intentIds: readonly string[];
    movementIds: readonly bigint[];
    above: readonly { intent_id: string; chain: string; block_number: bigint }[];
  },
): Promise<DepositRow[]> {
  const { rows } = await sql<DepositRow>`
    select decided.* from deposit decided where decided.id = any(array(
      select deposit.id from deposit where deposit.intent_id = any(${array(scope.intentIds, "text")}) and ${IS_UNDECIDED}
      union all
      select recent.id from ${unnest("asked", scope.above, { intent_id: "text", chain: "text", block_number: "int8" })}
      cross join lateral (
        select deposit.id from deposit where deposit.intent_id = asked.intent_id and deposit.chain = asked.chain
          and deposit.block_number > asked.block_number
        offset 0
      ) as recent
      union all
      select deposit.id from deposit where deposit.movement_id = any(${array(scope.movementIds, "int8")})
    )) order by decided.seq`.execute(tx);
  return rows;
}
