import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import type { AccountSender } from "../../chain/sender.ts";
import { warnRepeated } from "../../kernel/alarm/repeatedWarning.ts";
import { addMs } from "../../kernel/clock.ts";
import type { World } from "../../world.ts";
import { LOOK_MS_MAX } from "../../priming/primedAccount.ts";
import { changeUnlocked, listDueAccounts, type DueAccount } from "../../priming/store.ts";
import { submitBatch, toItems, type PrimingWorld } from "../../priming/submitBatch.ts";
import { listInboxesInUse } from "./inboxesInUse.ts";
import { nextStep, type NextStep } from "./unusedAccount.ts";

/** Accounts reviewed per call: as many as may be open. */
const OPEN_MAX = 200;

/**
 * Looks at a chain's open accounts. Ends the rows whose account is closed, and closes the accounts that nobody uses any
 * more. Returns how many accounts have a transaction now.
 */
export async function closeAccounts(world: PrimingWorld & Pick<World, "catalog">, chain: Chain): Promise<number> {
  const { accounts } = chain.sender;
  if (accounts === undefined) return 0;
  const unused = await reviewAccounts(world, chain, accounts);
  const keys = chain.sender.batchKeys(await toItems(world, unused));
  const keyOf = new Map(unused.map((each, index) => [each, keys[index]]));
  const batchMax = findWatchedChain(world.catalog, chain.caip2)?.settleBatchMax ?? 1;
  let submitted = 0;
  for (const group of Map.groupBy(unused, (each) => keyOf.get(each)).values())
    for (let start = 0; start < group.length; start += batchMax)
      submitted += await submitBatch(world, group.slice(start, start + batchMax), {
        prepare: (items) => accounts.prepareClose(world, items),
        refuse: (refused, reason) => keepOpen(world, refused, reason),
        from: "open",
        to: "closing",
      });
  return submitted;
}

/** The due accounts that are to be closed. */
async function reviewAccounts(world: PrimingWorld, chain: Chain, accounts: AccountSender): Promise<DueAccount[]> {
  const now = world.clock.now();
  const due = await listDueAccounts(world.db, { chain: chain.caip2, status: "open", at: now, limit: OPEN_MAX });
  if (due.length === 0) return [];
  const [found, inUse] = await Promise.all([
    accounts.inspect(await toItems(world, due)),
    listInboxesInUse(world.db, due),
  ]);
  const unused: DueAccount[] = [];
  for (const [index, each] of due.entries()) {
    const account = found[index];
    if (account === undefined) continue;
    const inbox = { intent: each.intent, isSettling: inUse.has(each.row.id) };
    const step = nextStep(each.row, inbox, { account, now });
    if (step.kind === "close") unused.push(each);
    else await changeUnlocked(world.db, each.row, toChange(step, now));
  }
  return unused;
}

function toChange(step: Exclude<NextStep, { kind: "close" }>, now: Date) {
  if (step.kind === "look") return { reason: step.reason, retry_at: step.at };
  return { status: "closed", reason: step.reason, closed_at: now } as const;
}

async function keepOpen({ db, clock, log }: PrimingWorld, { row, intent }: DueAccount, reason: string): Promise<void> {
  warnRepeated(
    { clock, log },
    {
      key: `priming not closed ${intent.id}`,
      fields: { intent: intent.id, reason },
      message: "an inbox's account is not closed; it is retried later",
    },
  );
  await changeUnlocked(db, row, { reason: `refused ${reason}`, retry_at: addMs(clock.now(), LOOK_MS_MAX) });
}
