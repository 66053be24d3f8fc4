import { findAsset, type Asset } from "../catalog/catalog.ts";
import { payoutChain } from "../intent/payoutAsset.ts";
import { findSourceInbox, listSourceInboxChains } from "../inbox/store.ts";
import type { IntentRow } from "../intent/store.ts";
import type { Caip2 } from "../kernel/caip.ts";
import { addMs } from "../kernel/clock.ts";
import type { World } from "../world.ts";
import { upsertViewHints } from "./store.ts";

/** One token on one chain, as the caller names it. */
export type ViewSelection = { namespace: string; reference: string; tokenAddress: string };

/** How long a report keeps an inbox in view; each report renews it. */
export const HINT_TTL_MS = 30 * 60_000;

/**
 * Notes that a payer is looking, so that the chain is asked sooner. False when the selection matches nothing that was issued.
 * It is a hint and nothing else: every inbox is watched anyway.
 */
export async function registerView(
  world: Pick<World, "db" | "clock" | "catalog" | "wake">,
  intent: IntentRow,
  selection?: ViewSelection,
): Promise<boolean> {
  const expiresAt = addMs(world.clock.now(), HINT_TTL_MS);
  if (selection === undefined) {
    if (intent.status !== "active") return false;
    const places = await listPayableAssets(world, intent);
    await upsertViewHints(
      world.db,
      places.map(({ namespace, reference, token }) => ({
        intentId: intent.id,
        namespace,
        reference,
        token,
        expiresAt,
      })),
    );
    for (const chain of new Set(places.map(({ chain }) => chain))) world.wake.notify(viewHintsTopic(chain));
    return true;
  }
  // Whatever its case: a hint moves nothing, so a checksum has nothing to protect here.
  const token = selection.namespace === "eip155" ? selection.tokenAddress.toLowerCase() : selection.tokenAddress;
  const { namespace, reference } = selection;
  const origin = world.catalog.assets.find(
    (asset) =>
      asset.isOrigin && asset.namespace === namespace && asset.reference === reference && asset.token === token,
  );
  if (origin === undefined) return false;
  const issued = await findSourceInbox(world.db.root, { intentId: intent.id, namespace: origin.namespace, reference });
  if (issued === undefined) return false;
  await upsertViewHints(world.db, [{ intentId: intent.id, namespace, reference, token: origin.token, expiresAt }]);
  world.wake.notify(viewHintsTopic(origin.chain));
  return true;
}

/** Where an intent may be paid: in its own token, and in every origin of the chains for which payers were given an address. */
async function listPayableAssets(world: Pick<World, "db" | "catalog">, intent: IntentRow): Promise<Asset[]> {
  const payout = findAsset(world.catalog, payoutChain(intent), intent.payout_token);
  const chains = await listSourceInboxChains(world.db, intent.id);
  const origins = world.catalog.assets.filter((asset) => asset.isOrigin && chains.includes(asset.chain));
  return [...new Set([...(payout === undefined ? [] : [payout]), ...origins])];
}

/** Wakes whoever looks at a chain for payers. */
export function viewHintsTopic(chain: Caip2): string {
  return `hints:${chain}`;
}
