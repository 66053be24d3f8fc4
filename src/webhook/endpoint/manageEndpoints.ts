import type { Tx } from "../../db/database.ts";
import { json } from "../../db/parameters.ts";
import { addMs, DAY_MS, parseInstant, secondsBetween } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/ids.ts";
import { lockAccount } from "../../merchant/store.ts";
import type { World } from "../../world.ts";
import { NO_TURN } from "../delivery.ts";
import { requireTypes, requireUrl, secretText, validSecrets, type WebhookEndpoint } from "./endpoint.ts";
import {
  countDeletedEndpoints,
  findEndpoint,
  insertEndpoint,
  listEndpointRows,
  lockEndpoint,
  readLastSequence,
  updateEndpoint,
} from "./endpointStore.ts";

type ManageWorld = Pick<World, "db" | "clock" | "entropy" | "config" | "wake">;

const ENDPOINTS_MAX = 16;
/** Deleted endpoints whose rows are left. Each may have had thousands of replays, so a new one waits for their purge. */
const DELETED_MAX = 48;
const DELETED_RETRY_S = 60;
const SECRET_BYTES = 32;
/** After a rotation, the earlier secret signs as well for this long. */
const EARLIER_SECRET_MS = DAY_MS;
const EARLIER_SECRETS_MAX = 3;

export type NewEndpoint = {
  url: string;
  types?: readonly string[] | null | undefined;
  description?: string | null | undefined;
};
export type EndpointKey = { accountId: string; endpointId: string };

/** Adds an endpoint. It gets the events from now on. Throws invalid_request and webhook_endpoint_limit. */
export function createEndpoint(world: ManageWorld, addition: EndpointAddition): Promise<WebhookEndpoint> {
  return world.db.transaction((tx) => addEndpoint(tx, world, addition));
}

type EndpointAddition = { accountId: string; input: NewEndpoint };

/** As `createEndpoint`, in the caller's transaction. */
export async function addEndpoint(
  tx: Tx,
  world: ManageWorld,
  { accountId, input }: EndpointAddition,
): Promise<WebhookEndpoint> {
  const url = requireUrl(world.config, input.url);
  const types = requireTypes(input.types ?? ["*"]);
  const at = world.clock.now();
  await lockAccount(tx, accountId);
  if ((await listEndpointRows(tx, accountId)).length >= ENDPOINTS_MAX)
    throw new Fault("webhook_endpoint_limit", { details: { limit: ENDPOINTS_MAX } });
  if ((await countDeletedEndpoints(tx, accountId)) >= DELETED_MAX) {
    const message = `The deliveries of ${DELETED_MAX} deleted endpoints are still being removed.`;
    throw new Fault("rate_limited", { message, retryAfterS: DELETED_RETRY_S });
  }
  return insertEndpoint(tx, {
    id: newId("we", world.entropy),
    account_id: accountId,
    url,
    types,
    description: input.description ?? null,
    status: "enabled",
    disabled_reason: null,
    secret: world.entropy.bytes(SECRET_BYTES),
    fanned_sequence: await readLastSequence(tx, accountId),
    // An event may get its sequence before others see this row.
    is_behind: true,
    ...NO_TURN,
    lease_token: 0n,
    leased_until: null,
    failing_since: null,
    failing_reported_at: null,
    undelivered_sequence: null,
    replays_since: null,
    created_at: at,
    updated_at: at,
    deleted_at: null,
  });
}

/** The present secret of an endpoint, for the repeat of a call that made it. Throws not_found. */
export async function readSecret(tx: Tx, key: EndpointKey): Promise<{ secret: string }> {
  const { secret } = (await findEndpoint(tx, key)) ?? throwNotFound();
  return { secret: secretText(secret) };
}

/** Throws not_found, also for another account's endpoint. */
export async function getEndpoint(world: Pick<World, "db">, key: EndpointKey): Promise<WebhookEndpoint> {
  return (await findEndpoint(world.db.root, key)) ?? throwNotFound();
}

export type EndpointChange = {
  url?: string | null | undefined;
  types?: readonly string[] | null | undefined;
  description?: string | null | undefined;
  status?: "enabled" | "disabled" | null | undefined;
};

/**
 * Changes an endpoint. One that is enabled again goes on with the first event that it has not got. Throws
 * invalid_request and not_found.
 */
export async function changeEndpoint(
  world: ManageWorld,
  key: EndpointKey,
  change: EndpointChange,
): Promise<WebhookEndpoint> {
  const changed = await world.db.transaction((tx) => editEndpoint(tx, world, { key, change }));
  world.wake.notify("webhook events");
  return changed;
}

/** As `changeEndpoint`, in the caller's transaction. The caller then wakes the deliveries. */
export async function editEndpoint(
  tx: Tx,
  world: ManageWorld,
  { key, change }: { key: EndpointKey; change: EndpointChange },
): Promise<WebhookEndpoint> {
  const columns = {
    ...(typeof change.url === "string" ? { url: requireUrl(world.config, change.url) } : {}),
    ...(change.types ? { types: requireTypes(change.types) } : {}),
    ...(typeof change.description === "string" ? { description: change.description } : {}),
  };
  const endpoint = await lockExisting(tx, key);
  const status = statusColumns(endpoint, change.status);
  return updateEndpoint(tx, endpoint.number, { ...columns, ...status, updated_at: world.clock.now() });
}

function statusColumns(endpoint: WebhookEndpoint, status: EndpointChange["status"]) {
  if (status === null || status === undefined || status === endpoint.status) return {};
  if (status === "disabled") return { status, disabled_reason: "requested", ...NO_TURN } as const;
  const { undelivered_sequence: undelivered, fanned_sequence: fanned } = endpoint;
  return {
    status,
    disabled_reason: null,
    ...NO_TURN,
    is_behind: true,
    fanned_sequence: undelivered !== null && undelivered <= fanned ? undelivered - 1n : fanned,
    failing_since: null,
    failing_reported_at: null,
    undelivered_sequence: null,
  } as const;
}

/** Deletes an endpoint. Its deliveries are deleted later. Throws not_found. */
export async function deleteEndpoint(world: ManageWorld, key: EndpointKey): Promise<void> {
  await world.db.transaction((tx) => removeEndpoint(tx, world, key));
}

/** As `deleteEndpoint`, in the caller's transaction. */
export async function removeEndpoint(tx: Tx, world: ManageWorld, key: EndpointKey): Promise<void> {
  const endpoint = await lockExisting(tx, key);
  const ended = { deleted_at: world.clock.now(), ...NO_TURN, is_behind: false, failing_since: null };
  await updateEndpoint(tx, endpoint.number, ended);
}

/** Gives an endpoint a new secret. Those of the last day sign as well. Throws not_found and rate_limited. */
export function rotateSecret(world: ManageWorld, key: EndpointKey): Promise<WebhookEndpoint> {
  return world.db.transaction((tx) => renewSecret(tx, world, key));
}

/** As `rotateSecret`, in the caller's transaction. */
export async function renewSecret(tx: Tx, world: ManageWorld, key: EndpointKey): Promise<WebhookEndpoint> {
  const at = world.clock.now();
  const endpoint = await lockExisting(tx, key);
  const earlier = validSecrets(endpoint, at);
  const oldest = parseInstant(earlier.at(-1)?.until ?? "") ?? at;
  if (earlier.length >= EARLIER_SECRETS_MAX) {
    const message = `A secret may be rotated ${EARLIER_SECRETS_MAX} times in 24 hours.`;
    throw new Fault("rate_limited", { message, retryAfterS: secondsBetween(at, oldest) });
  }
  const until = addMs(at, EARLIER_SECRET_MS).toISOString();
  const previous = { secret: Buffer.from(endpoint.secret).toString("base64"), until };
  return updateEndpoint(tx, endpoint.number, {
    secret: world.entropy.bytes(SECRET_BYTES),
    earlier_secrets: json([previous, ...earlier]),
    updated_at: at,
  });
}

/** Locks an account's endpoint. Throws not_found. */
export async function lockExisting(tx: Tx, key: EndpointKey): Promise<WebhookEndpoint> {
  const found = await findEndpoint(tx, key);
  return (found && (await lockEndpoint(tx, found.number))) ?? throwNotFound();
}

function throwNotFound(): never {
  throw new Fault("not_found", { message: "No such webhook endpoint." });
}
