import { findAsset, type Asset } from "../catalog/catalog.ts";
import { payoutChain } from "../intent/payoutAsset.ts";
import { findSourceInbox, listSourceInboxChains } from "../inbox/store.ts";
import type { IntentRow } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import { requestPriming } from "../priming/requestPriming.ts";
import type { World } from "../world.ts";
import { upsertViewHints } from "./store.ts";

/** One token on one chain, in the caller's spelling. */
export type ViewSelection = { namespace: string; reference: string; tokenAddress: string };

type ViewWorld = Pick<World, "db" | "clock" | "catalog" | "chains" | "memory" | "wake" | "log">;

/** Lifetime of a view hint; each report renews it. */
export const HINT_TTL_MS = 30 * 60_000;

/**
 * Records that a payer has the checkout open, so that the watcher scans these inboxes sooner. Without a selection it
 * covers every asset that the intent accepts, and returns false unless the intent is active. With one it returns false
 * unless that inbox is issued. Hints only save time: the watcher finds every deposit without them.
 */
export async function registerView(world: ViewWorld, intent: IntentRow, selection?: ViewSelection): Promise<boolean> {
  if (selection === undefined) return registerPayable(world, intent);
  const isRecorded = await registerSelection(world, intent, selection);
  // The page shows the payout's own inbox without issuing it, and it may need an account too.
  const isOwnChain = `${selection.namespace}:${selection.reference}` === payoutChain(intent);
  if (isRecorded || isOwnChain) await requestPriming(world, intent, { ...selection, token: selection.tokenAddress });
  return isRecorded;
}

async function registerPayable(world: ViewWorld, intent: IntentRow): Promise<boolean> {
  if (intent.status !== "active") return false;
  const expiresAt = addMs(world.clock.now(), HINT_TTL_MS);
  const assets = await listPayableAssets(world, intent);
  const hints = assets.map(({ namespace, reference, token }) => {
    return { intentId: intent.id, namespace, reference, token, expiresAt };
  });
  await upsertViewHints(world.db, hints);
  for (const chain of new Set(assets.map(({ chain }) => chain))) world.wake.notify(viewHintsTopic(chain));
  return true;
}

async function registerSelection(world: ViewWorld, intent: IntentRow, selection: ViewSelection): Promise<boolean> {
  // The checksum is not verified, because a hint moves no money.
  const token = selection.namespace === "eip155" ? selection.tokenAddress.toLowerCase() : selection.tokenAddress;
  const { namespace, reference } = selection;
  const origin = world.catalog.assets.find(
    (asset) =>
      asset.isOrigin && asset.namespace === namespace && asset.reference === reference && asset.token === token,
  );
  if (origin === undefined) return false;
  const issued = await findSourceInbox(world.db.root, { intentId: intent.id, namespace: origin.namespace, reference });
  if (issued === undefined) return false;
  const expiresAt = addMs(world.clock.now(), HINT_TTL_MS);
  await upsertViewHints(world.db, [{ intentId: intent.id, namespace, reference, token: origin.token, expiresAt }]);
  world.wake.notify(viewHintsTopic(origin.chain));
  return true;
}

/** The assets that can pay an intent: its payout asset, and every origin on the chains with an issued source inbox. */
async function listPayableAssets(world: Pick<World, "db" | "catalog">, intent: IntentRow): Promise<Asset[]> {
  const payout = findAsset(world.catalog, payoutChain(intent), intent.payout_token);
  const chains = await listSourceInboxChains(world.db, intent.id);
  const origins = world.catalog.assets.filter((asset) => asset.isOrigin && chains.includes(asset.chain));
  return [...new Set([...(payout === undefined ? [] : [payout]), ...origins])];
}

/** The wake topic for new view hints of a chain. */
export function viewHintsTopic(chain: Caip2): string {
  return `hints:${chain}`;
}
