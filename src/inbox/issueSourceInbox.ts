import type { Asset } from "../catalog/catalog.ts";
import { appendEvents } from "../event/store.ts";
import { isOnRail } from "../intent/payout.ts";
import type { IntentRow } from "../intent/store.ts";
import { caip10, caip2, displayAddress, type Caip2, type Namespace } from "../kernel/caip.ts";
import { Fault } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { findSourceInbox, insertSourceInbox } from "./store.ts";

type IssueWorld = Pick<World, "db" | "clock" | "entropy" | "catalog">;

/** An origin as a caller names it: by chain id on EVM, by mint on Solana. */
export type OriginName = { chainId: number } | { namespace: string; reference: string; mint: string };

/** A source inbox as the API shows it. */
export type SourceInboxRecord = { address: string; caip10: string };

type Place = { namespace: Namespace; reference: string };

/**
 * The deposit address of an intent on one origin. The first call issues it; every later one returns the same, whatever has
 * become of the intent or the origin. On EVM it is the intent's own inbox, which needs no chain to be computed.
 * Throws unsupported_origin, and on the first issue source_inbox_not_active or customer_not_bound.
 */
export async function issueSourceInbox(
  world: IssueWorld,
  intent: IntentRow,
  name: OriginName,
): Promise<SourceInboxRecord> {
  // What was issued once stays, so it is looked for before the catalogue is asked whether the origin is still live.
  const place = findPlace(world, name);
  const issued =
    place &&
    (await findSourceInbox(world.db, { intentId: intent.id, namespace: place.namespace, reference: place.reference }));
  if (issued !== undefined) return sourceInboxRecord(caip2(issued.namespace, issued.reference), issued.address);
  const origin = getOrigin(world, name);
  const pays = world.catalog.assets.some(
    (asset) => asset.chain === origin.chain && asset.isOrigin && isOnRail(intent, asset),
  );
  if (intent.status !== "active" || !pays) throw new Fault("source_inbox_not_active");
  if (intent.customer_bound_at === null) throw new Fault("customer_not_bound");
  await issue(world, intent, origin);
  return sourceInboxRecord(origin.chain, intent.inbox_address);
}

async function issue(world: IssueWorld, intent: IntentRow, origin: Asset): Promise<void> {
  const at = world.clock.now();
  const { namespace, reference } = origin;
  await world.db.transaction(async (tx) => {
    const inbox = {
      intent_id: intent.id,
      namespace,
      reference,
      token: "",
      address: intent.inbox_address,
      issued_at: at,
    };
    if ((await insertSourceInbox(tx, inbox)).kind !== "inserted") return;
    const about = { accountId: intent.account_id, intentId: intent.id, merchantReference: intent.merchant_reference };
    const object = { object: "source_inbox", intentId: intent.id, ...sourceInboxRecord(origin.chain, inbox.address) };
    const event = { ...about, type: "source_inbox.issued", livemode: intent.livemode, object, previous: null } as const;
    await appendEvents(tx, world, { events: [event], at });
  });
}

/** Where the inbox of a named origin stands if it was ever issued; undefined when the name is none this service has known. */
function findPlace(world: IssueWorld, name: OriginName): Place | undefined {
  if ("chainId" in name) return { namespace: "eip155", reference: String(name.chainId) };
  return world.catalog.assets.find((asset) => isNamed(asset, name));
}

function getOrigin(world: IssueWorld, name: OriginName): Asset {
  const origin = world.catalog.assets.find((asset) => asset.isOrigin && isNamed(asset, name));
  if (origin !== undefined) return origin;
  throw new Fault("unsupported_origin", { param: "chainId" in name ? "chainId" : "reference" });
}

function isNamed(asset: Asset, name: OriginName): boolean {
  if ("chainId" in name) return asset.namespace === "eip155" && asset.chainId === name.chainId;
  return asset.namespace === name.namespace && asset.reference === name.reference && asset.token === name.mint;
}

function sourceInboxRecord(chain: Caip2, address: string): SourceInboxRecord {
  return { address: displayAddress(chain, address), caip10: caip10(chain, address) };
}
