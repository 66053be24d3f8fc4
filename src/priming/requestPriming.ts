import { findWatchedChain } from "../catalog/catalog.ts";
import { payoutChain } from "../intent/payoutAsset.ts";
import { toSettleItem } from "../intent/pins/ownInbox.ts";
import type { IntentRow } from "../intent/store.ts";
import { warnRepeated } from "../kernel/alarm/repeatedWarning.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { classifyError } from "../kernel/errors/classifyError.ts";
import type { World } from "../world.ts";
import { extendPrimedAccount, insertWithinLimits } from "./store.ts";

type RequestWorld = Pick<World, "db" | "clock" | "catalog" | "chains" | "wake" | "log">;

/** The origin that a payer has chosen: a token on a chain where an inbox needs an account. */
export type ChosenOrigin = { readonly namespace: string; readonly reference: string; readonly token: string };

/**
 * Asks for the account in which the intent's inbox receives the token, so that a payer's plain transfer arrives. Does
 * nothing where it would exceed a limit, where the service creates none, or where its lamports might not return. A
 * repeat keeps the account for longer. A failure is logged: the payer gets an issued inbox without it, and each look at
 * the page asks again.
 */
export async function requestPriming(world: RequestWorld, intent: IntentRow, origin: ChosenOrigin): Promise<void> {
  try {
    await planAccount(world, intent, origin);
  } catch (error) {
    if (classifyError(error) === "fatal") throw error;
    warnRepeated(world, {
      key: `request priming ${payoutChain(intent)}`,
      fields: { intent: intent.id, chain: payoutChain(intent), err: error },
      message: "no account was planned for a payer; the next look at the page asks again",
    });
  }
}

async function planAccount(world: RequestWorld, intent: IntentRow, origin: ChosenOrigin): Promise<void> {
  const chain = payoutChain(intent);
  const limits = findWatchedChain(world.catalog, chain)?.priming;
  const accounts = world.chains.get(chain)?.sender.accounts;
  const at = world.clock.now();
  const isOwnInbox = `${origin.namespace}:${origin.reference}` === chain && origin.token === intent.payout_token;
  if (limits === undefined || accounts === undefined || !isOwnInbox || intent.status !== "active") return;
  if (!accounts.returnsRent(toSettleItem(intent, origin.token), at)) return;
  const key = { chain, intentId: intent.id, token: origin.token };
  if (await extendPrimedAccount(world.db, key, { at, keepMs: limits.keepMs })) return;
  const isPlanned = await world.db.transaction((tx) =>
    insertWithinLimits(tx, { ...key, accountId: intent.account_id, at }, limits),
  );
  if (isPlanned) world.wake.notify(primingTopic(chain));
}

/** The wake topic for accounts to create on a chain. */
export function primingTopic(chain: Caip2): string {
  return `priming:${chain}`;
}
