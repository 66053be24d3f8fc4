import type { Chain } from "../chain/chain.ts";
import { SETTLEMENTS_AHEAD, type AccountSender, type SettleItem } from "../chain/sender.ts";
import { warnRepeated } from "../kernel/alarm/repeatedWarning.ts";
import { addMs, hasElapsed } from "../kernel/clock.ts";
import { LOOK_MS, PLANNED_MS_MAX, type PrimedAccount } from "./primedAccount.ts";
import { changeUnlocked, countSubmitted, listDueAccounts, type DueAccount } from "./store.ts";
import { postpone, submitBatch, toItems, type PrimingWorld } from "./submitBatch.ts";

/** Accounts reviewed per call. */
const PLANNED_MAX = 24;

/**
 * Creates a chain's planned accounts: stores signed bytes, which the chain's sender broadcasts. Accounts wait while the
 * payer has no more than the next settlements need. Returns how many accounts have a transaction now.
 */
export async function openAccounts(world: PrimingWorld, chain: Chain): Promise<number> {
  const { accounts } = chain.sender;
  if (accounts === undefined) return 0;
  const scope = { chain: chain.caip2, status: "planned", at: world.clock.now(), limit: PLANNED_MAX } as const;
  const missing = await listMissing(world, accounts, await listDueAccounts(world.db, scope));
  const affordable = await takeAffordable(world, chain, missing);
  let submitted = 0;
  for (let start = 0; start < affordable.length; start += accounts.batchMax)
    submitted += await submitBatch(world, affordable.slice(start, start + accounts.batchMax), {
      prepare: (items) => accounts.prepareOpen(world, items),
      refuse: (refused, reason) => end(world, refused.row, `refused ${reason}`),
      from: "planned",
      to: "submitted",
    });
  return submitted;
}

/**
 * Those that are to be created. Ends the rows that nobody waits for, and those whose account no settlement could close.
 */
async function listMissing(
  world: PrimingWorld,
  accounts: AccountSender,
  due: readonly DueAccount[],
): Promise<DueAccount[]> {
  const now = world.clock.now();
  const items = await toItems(world, due);
  const itemOf = new Map(due.map((each, index) => [each, items[index]]));
  const returnsRent = (item: SettleItem | undefined) => item !== undefined && accounts.returnsRent(item, now);
  const isWanted = (each: DueAccount) =>
    each.intent.status === "active" &&
    !hasElapsed(PLANNED_MS_MAX, { since: each.row.created_at, now }) &&
    returnsRent(itemOf.get(each));
  const { wanted = [], needless = [] } = Object.groupBy(due, (each) => (isWanted(each) ? "wanted" : "needless"));
  for (const { row } of needless) await end(world, row, "not_created");
  const found = wanted.length === 0 ? [] : await accounts.inspect(await toItems(world, wanted));
  const missing: DueAccount[] = [];
  for (const [index, each] of wanted.entries()) {
    const account = found[index];
    // One that a payer created, or that a stranger's settlement left open, is kept and closed like the others.
    if (account?.units !== undefined)
      await changeUnlocked(world.db, each.row, { status: "open", retry_at: addMs(now, LOOK_MS) });
    else if (account?.obstacle !== undefined) await end(world, each.row, account.obstacle);
    else missing.push(each);
  }
  return missing;
}

function end(world: PrimingWorld, row: PrimedAccount, reason: string): Promise<void> {
  return changeUnlocked(world.db, row, { status: "closed", reason, closed_at: world.clock.now() });
}

/** What creating leaves must pay the next settlements. The others wait. */
async function takeAffordable(
  world: PrimingWorld,
  { caip2: chain, sender }: Chain,
  missing: readonly DueAccount[],
): Promise<readonly DueAccount[]> {
  const { accounts, payer } = sender;
  if (missing.length === 0 || accounts === undefined) return [];
  const [balance, fee, rent, submitted] = await Promise.all([
    sender.feeBalance(),
    sender.settlementFee(),
    accounts.rent(),
    countSubmitted(world.db, chain),
  ]);
  const spare = balance - SETTLEMENTS_AHEAD * fee - submitted * rent;
  const count = spare < rent ? 0 : Number(spare / rent);
  const waiting = missing.slice(count);
  if (waiting.length > 0)
    warnRepeated(world, {
      key: `priming ${chain}`,
      fields: { chain, account: payer, balance: String(balance) },
      message: "no accounts are created for inboxes: the balance is kept for settlements",
    });
  await postpone(world, waiting);
  return missing.slice(0, count);
}
