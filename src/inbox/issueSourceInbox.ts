import type { Asset } from "../catalog/catalog.ts";
import type { Tx } from "../db/database.ts";
import { appendEvents } from "../event/store.ts";
import { findHop, hopAccountRecord, toItemOn } from "../intent/pins/hopInbox.ts";
import { tokenAccountRecord, type TokenAccountRecord } from "../intent/pins/ownInbox.ts";
import { findIntentRoutes } from "../intent/routes/findRoutes.ts";
import type { PinnedRoute } from "../intent/routes/routeSet.ts";
import { lockIntents, type IntentRow } from "../intent/store.ts";
import { caip10, caip2, displayAddress, type Caip2 } from "../kernel/caip.ts";
import { assert } from "../kernel/assert.ts";
import { Fault } from "../kernel/faults.ts";
import { isAccountOrigin } from "../merchant/accountOrigins.ts";
import { findAccount } from "../merchant/store.ts";
import { requestPriming } from "../priming/requestPriming.ts";
import type { World } from "../world.ts";
import { isAcceptedOrigin } from "./depositIssuable.ts";
import { findIssuableRoutes } from "./issuableRoutes.ts";
import { requestBinding, requestInbox } from "./gateRequests.ts";
import { markCustomerBound } from "./bindCustomers.ts";
import { loadIssuingPredicate } from "./originSwitch.ts";
import { findSourceInbox, insertSourceInbox, type SourceInboxKey, type SourceInboxRow } from "./store.ts";

type IssueWorld = Pick<
  World,
  "db" | "clock" | "entropy" | "catalog" | "chains" | "gate" | "log" | "memory" | "bridge" | "wake"
>;

/** An origin as a caller names it: by chain id on EVM, by mint on Solana. */
export type OriginSelector = { chainId: number } | { namespace: string; reference: string; mint: string };

/** A source inbox as the API shows it. */
export type SourceInboxRecord = { address: string; caip10: string } & TokenAccountRecord;

/**
 * Returns the deposit address of an intent on one origin. The first call issues it; later calls return the same address
 * in every state of the intent, the origin and the gate. On EVM chains and on the payout's chain it is the intent's
 * own inbox, on Solana else one that can only cross to it. A remote gate must approve it. Throws unsupported_origin.
 * The first issue also throws source_inbox_not_active, customer_not_bound, source_inbox_unavailable,
 * source_inbox_refused, and not_found when the intent is archived meanwhile. A payer is about to pay there, so each
 * call also asks for the account that the inbox needs.
 */
export async function issueSourceInbox(
  world: IssueWorld,
  intent: IntentRow,
  selector: OriginSelector,
): Promise<SourceInboxRecord> {
  const issued = await findOrIssue(world, intent, selector);
  if ("mint" in selector) await requestPriming(world, intent, { ...selector, token: selector.mint });
  return issued;
}

async function findOrIssue(world: IssueWorld, intent: IntentRow, selector: OriginSelector): Promise<SourceInboxRecord> {
  // An issued inbox is permanent, so this lookup precedes the check for a live origin.
  const key = toSourceInboxKey(intent, selector);
  const issued = key && (await findSourceInbox(world.db.root, key));
  if (issued !== undefined) return sourceInboxRecord(intent, await findIntentRoutes(reader(world), intent), issued);
  const origin = await getIssuableOrigin(world, intent, selector);
  // The gate is called outside any transaction. Its endpoints are idempotent, so a retry after a crash is safe.
  if (intent.customer_bound_at === null) {
    await requestBinding(world, { intent, origin });
    await markCustomerBound(world, intent.id);
  }
  const routes = await findIntentRoutes(reader(world), intent);
  const { inbox: address } = toItemOn(intent, routes, origin);
  await requestInbox(world, { intent, origin, address });
  const { namespace, reference } = origin;
  const inbox = { intent_id: intent.id, namespace, reference, token: inboxToken(origin), address };
  const row = await world.db.transaction((tx) =>
    saveSourceInbox(tx, world, { inbox: { ...inbox, issued_at: world.clock.now() }, routes }),
  );
  return sourceInboxRecord(intent, routes, row);
}

function reader({ db, memory }: IssueWorld) {
  return { db: db.root, memory };
}

/** Inserts the inbox and its event under the intent's lock, which excludes a concurrent archive or issue. */
async function saveSourceInbox(
  tx: Tx,
  world: IssueWorld,
  { inbox, routes }: { inbox: SourceInboxRow; routes: readonly PinnedRoute[] },
): Promise<SourceInboxRow> {
  const [intent] = await lockIntents(tx, [inbox.intent_id]);
  if (intent === undefined || intent.status === "archived")
    throw new Fault("not_found", { message: "No such intent." });
  const { intent_id: intentId, namespace, reference, token } = inbox;
  const existing = await findSourceInbox(tx, { intentId, namespace, reference, token });
  // A concurrent issue committed first; its address is the intent's only inbox there.
  if (existing !== undefined) return existing;
  if (intent.status !== "active") throw new Fault("source_inbox_not_active");
  // The address follows from the intent alone, so it belongs to no other intent.
  assert(await insertSourceInbox(tx, inbox), `the inbox ${inbox.address} of ${intentId} belongs to another intent`);
  const object = { object: "source_inbox", intentId: intent.id, ...sourceInboxRecord(intent, routes, inbox) };
  const event = {
    type: "source_inbox.issued",
    accountId: intent.account_id,
    intentNumber: intent.seq,
    livemode: intent.livemode,
    object,
    previous: null,
  } as const;
  await appendEvents(tx, world, { events: [event], at: inbox.issued_at });
  return inbox;
}

/** The key of the inbox for a named origin; undefined when no inbox can have that name. */
function toSourceInboxKey(intent: IntentRow, name: OriginSelector): SourceInboxKey | undefined {
  if ("chainId" in name)
    return { intentId: intent.id, namespace: "eip155", reference: String(name.chainId), token: "" };
  if (name.namespace !== "solana") return undefined;
  return { intentId: intent.id, namespace: "solana", reference: name.reference, token: name.mint };
}

/**
 * The origin that issues the inbox. On EVM chains every token of the chain shares the address, so any payable one
 * serves.
 */
async function getIssuableOrigin(world: IssueWorld, intent: IntentRow, name: OriginSelector): Promise<Asset> {
  const account = await findAccount(world.db, intent.account_id);
  assert(account, `the account of ${intent.id} does not exist`);
  const origins = world.catalog.assets.filter(
    (asset) => asset.isOrigin && isAccountOrigin(account, asset) && matchesSelector(asset, name),
  );
  if (origins.length === 0) throw unsupportedOrigin(world, name);
  const isIssuing = await loadIssuingPredicate(world);
  const routes = await findIssuableRoutes(world, intent);
  const origin = origins.find((candidate) => isAcceptedOrigin(intent, candidate, routes) && isIssuing(candidate));
  if (origin === undefined || intent.status !== "active") throw new Fault("source_inbox_not_active");
  return origin;
}

/** Builds the fault that names the wrong field, or explains how the other kind of chain is named. */
function unsupportedOrigin({ catalog }: IssueWorld, name: OriginSelector): Fault {
  const unsupported = (param: string, message: string) => new Fault("unsupported_origin", { param, message });
  const solanaOrigins = catalog.assets.filter((asset) => asset.isOrigin && asset.namespace === "solana");
  if ("chainId" in name) {
    if (solanaOrigins.every(({ chainId }) => chainId !== name.chainId))
      return unsupported("chainId", "No source origin has this chainId.");
    return unsupported("chainId", "A source origin on Solana is named by namespace, reference and mint.");
  }
  if (name.namespace === "eip155")
    return unsupported("namespace", "A source origin on an EVM chain is named by chainId alone.");
  if (name.namespace !== "solana") return unsupported("namespace", "No source origin has this namespace.");
  const isCluster = solanaOrigins.some(({ reference }) => reference === name.reference);
  return isCluster
    ? unsupported("mint", "This mint is no source origin of the cluster.")
    : unsupported("reference", "No source origin has this reference.");
}

function matchesSelector(asset: Asset, name: OriginSelector): boolean {
  if ("chainId" in name) return asset.namespace === "eip155" && asset.chainId === name.chainId;
  if (name.namespace !== "solana" || asset.namespace !== "solana") return false;
  return asset.reference === name.reference && asset.token === name.mint;
}

function inboxToken(origin: Asset): string {
  return origin.namespace === "solana" ? origin.token : "";
}

function sourceInboxRecord(
  intent: IntentRow,
  routes: readonly PinnedRoute[],
  { namespace, reference, address, token }: Pick<SourceInboxRow, "namespace" | "reference" | "address" | "token">,
): SourceInboxRecord {
  const chain: Caip2 = caip2(namespace, reference);
  const record = { address: displayAddress(chain, address), caip10: caip10(chain, address) };
  const account =
    address === intent.inbox_address
      ? tokenAccountRecord(intent)
      : hopAccountRecord(intent, findHop(routes, { chain, token }));
  return { ...record, ...account };
}
