import {
  describeChange,
  payoutChangeDelayMs,
  PAYOUT_TERMS,
  proposePayoutChange,
  stopPayoutChange,
  type PayoutTerms,
} from "../../dashboard/payoutChange.ts";
import { listChangeRows, type PayoutChangeRow } from "../../dashboard/payoutChangeStore.ts";
import type { AccountChange } from "../../merchant/updateAccount.ts";
import type { World } from "../../world.ts";
import { getAccount } from "./getAccount.ts";
import { requiredText } from "../operation/inputFields.ts";
import { defineOperatorOperation } from "../operation/operatorOperation.ts";

export type PayoutChangeOutput = {
  payoutChangeId: string;
  status: PayoutChangeRow["status"];
  change: { name: string; value: string }[];
  proposedBy: string;
  proposedAt: string;
  dueAt: string | null;
  endedBy: string | null;
  endedAt: string | null;
};

const SHOWN_MAX = 100;

export const listPayoutChanges = defineOperatorOperation({
  effect: "read",
  input: { accountId: requiredText },
  async run(world, { accountId }): Promise<PayoutChangeOutput[]> {
    await getAccount(world, accountId);
    return (await listChangeRows(world.db, accountId, SHOWN_MAX)).map(toPayoutChangeOutput);
  },
});

export const stopChange = defineOperatorOperation({
  effect: "write",
  input: { accountId: requiredText, changeId: requiredText },
  async run(world, given): Promise<PayoutChangeOutput> {
    return toPayoutChangeOutput(await stopPayoutChange(world, given, "operator"));
  },
});

/**
 * Takes out of a change what must wait, and proposes that. Where nothing waits, the change stays whole and takes effect
 * at once.
 */
export async function proposeWhatWaits(
  world: World,
  accountId: string,
  change: AccountChange,
): Promise<{ rest: AccountChange; proposal: PayoutChangeOutput | undefined }> {
  const entries = Object.entries(change);
  const isTerm = ([name]: [string, unknown]) => PAYOUT_TERMS.some((term) => term === name);
  const terms = Object.fromEntries(entries.filter(isTerm)) as PayoutTerms;
  if (Object.keys(terms).length === 0 || payoutChangeDelayMs(world.config) === 0)
    return { rest: change, proposal: undefined };
  const row = await proposePayoutChange(world, { accountId, change: terms }, "operator");
  const rest = Object.fromEntries(entries.filter((entry) => !isTerm(entry))) as AccountChange;
  return { rest, proposal: toPayoutChangeOutput(row) };
}

function toPayoutChangeOutput(row: PayoutChangeRow): PayoutChangeOutput {
  return {
    payoutChangeId: row.id,
    status: row.status,
    change: describeChange(row).map(([name, value]) => ({ name, value })),
    proposedBy: row.proposed_by,
    proposedAt: row.proposed_at.toISOString(),
    dueAt: row.due_at?.toISOString() ?? null,
    endedBy: row.ended_by,
    endedAt: row.ended_at?.toISOString() ?? null,
  };
}
