import { sql, type RawBuilder } from "kysely";

/**
 * SQL: whether the proof of an open burn of the same inbox and amount may name `mint` yet. Such a mint is not unknown, whatever the times beside
 * it say: the clock may have stepped since they were written.
 */
export const HAS_OPEN_BURN: RawBuilder<boolean> = sql`exists (
  select from crossing where crossing.intent_id = mint.intent_id and crossing.settle_chain = mint.chain
    and crossing.status = 'burned' and crossing.mint is null and crossing.units = mint.amount_units + mint.bridge_fee_units)`;
