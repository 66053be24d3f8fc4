import { findWatchedChain } from "../catalog/catalog.ts";
import { isPayoutAsset } from "../intent/payoutAsset.ts";
import { findHop, toItemOn } from "../intent/pins/hopInbox.ts";
import { findIntentRoutes } from "../intent/routes/findRoutes.ts";
import type { IntentRow } from "../intent/store.ts";
import { warnRepeated } from "../kernel/alarm/repeatedWarning.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { classifyError } from "../kernel/errors/classifyError.ts";
import type { World } from "../world.ts";
import { extendPrimedAccount, insertWithinLimits } from "./store.ts";

type RequestWorld = Pick<World, "db" | "clock" | "catalog" | "chains" | "memory" | "wake" | "log">;

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
    const chain = `${origin.namespace}:${origin.reference}`;
    warnRepeated(world, {
      key: `request priming ${chain}`,
      fields: { intent: intent.id, chain, err: error },
      message: "no account was planned for a payer; the next look at the page asks again",
    });
  }
}

async function planAccount(world: RequestWorld, intent: IntentRow, origin: ChosenOrigin): Promise<void> {
  const { token } = origin;
  const chain = `${origin.namespace}:${origin.reference}` as Caip2;
  const limits = findWatchedChain(world.catalog, chain)?.priming;
  const accounts = world.chains.get(chain)?.sender.accounts;
  const at = world.clock.now();
  if (limits === undefined || accounts === undefined || intent.status !== "active") return;
  const routes = await findIntentRoutes({ db: world.db.root, memory: world.memory }, intent);
  const isOwnInbox = isPayoutAsset(intent, { chain, token });
  if (!isOwnInbox && findHop(routes, { chain, token }) === undefined) return;
  if (!accounts.returnsRent(toItemOn(intent, routes, { chain, token }), at)) return;
  const key = { chain, intentId: intent.id, token };
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
