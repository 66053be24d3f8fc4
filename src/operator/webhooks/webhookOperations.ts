import { secretText, webhookEndpointRecord, type WebhookEndpoint } from "../../webhook/endpoint/endpoint.ts";
import { listEndpointRows } from "../../webhook/endpoint/endpointStore.ts";
import { findAccountOfEndpoint } from "../../webhook/endpoint/findAccountOfEndpoint.ts";
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  rotateSecret,
  type EndpointKey,
} from "../../webhook/endpoint/manageEndpoints.ts";
import { listDeliveries, webhookDeliveryRecord } from "../../webhook/listDeliveries.ts";
import { redeliver, sendTest } from "../../webhook/redeliver.ts";
import type { WebhookDeliveryStatus } from "../../webhook/webhookTables.ts";
import type { World } from "../../world.ts";
import { getAccount } from "../team/getAccount.ts";
import { CommandError, UsageError } from "../errors.ts";
import { limitOf, PAGE_FIELDS, toPage } from "../lists/page.ts";
import { optionalNumber, optionalText, requiredText } from "../operation/inputFields.ts";
import { defineOperatorOperation } from "../operation/operatorOperation.ts";

// Webhook endpoints of any account, by the functions of the API.

const SEQUENCE = optionalNumber({ min: 1, max: Number.MAX_SAFE_INTEGER });
const ENDPOINT = { webhookEndpointId: requiredText } as const;
const STATUSES: readonly string[] = ["pending", "succeeded", "failed"];

export const createWebhook = defineOperatorOperation({
  effect: "write",
  input: { accountId: requiredText, url: requiredText, types: optionalText, description: optionalText },
  async run(world, { accountId, url, types, description }) {
    const { id } = await getAccount(world, accountId);
    return withSecret(
      await createEndpoint(world, { accountId: id, input: { url, types: splitTypes(types), description } }),
    );
  },
});

export const listWebhooks = defineOperatorOperation({
  effect: "read",
  input: { accountId: requiredText },
  async run(world, { accountId }) {
    const { id } = await getAccount(world, accountId);
    return (await listEndpointRows(world.db.root, id)).map(webhookEndpointRecord);
  },
});

export const updateWebhook = defineOperatorOperation({
  effect: "write",
  input: { ...ENDPOINT, url: optionalText, types: optionalText, description: optionalText, status: optionalText },
  async run(world, { webhookEndpointId, status, types, ...change }) {
    if (status !== undefined && status !== "enabled" && status !== "disabled")
      throw new UsageError(`--status must be enabled or disabled, not ${status}.`);
    const key = await keyOf(world, webhookEndpointId);
    return webhookEndpointRecord(await changeEndpoint(world, key, { ...change, status, types: splitTypes(types) }));
  },
});

export const deleteWebhook = defineOperatorOperation({
  effect: "write",
  input: ENDPOINT,
  async run(world, { webhookEndpointId }) {
    await deleteEndpoint(world, await keyOf(world, webhookEndpointId));
    return { webhookEndpointId };
  },
});

export const rotateWebhook = defineOperatorOperation({
  effect: "write",
  input: ENDPOINT,
  run: async (world, { webhookEndpointId }) =>
    withSecret(await rotateSecret(world, await keyOf(world, webhookEndpointId))),
});

export const testWebhook = defineOperatorOperation({
  effect: "write",
  input: ENDPOINT,
  async run(world, { webhookEndpointId }) {
    const event = await sendTest(world, await keyOf(world, webhookEndpointId));
    return { webhookEndpointId, eventId: String(Reflect.get(event, "id")) };
  },
});

export const redeliverWebhook = defineOperatorOperation({
  effect: "write",
  input: { ...ENDPOINT, event: optionalText, from: SEQUENCE, to: SEQUENCE },
  async run(world, { webhookEndpointId, event, from, to }) {
    const key = await keyOf(world, webhookEndpointId);
    if (event !== undefined && from === undefined && to === undefined) return redeliver(world, key, { eventId: event });
    if (event !== undefined || from === undefined || to === undefined)
      throw new UsageError("Give either --event, or --from and --to.");
    return redeliver(world, key, { fromSequence: BigInt(from), toSequence: BigInt(to) });
  },
});

export const listWebhookDeliveries = defineOperatorOperation({
  effect: "read",
  input: { ...ENDPOINT, status: optionalText, event: optionalText, ...PAGE_FIELDS },
  async run(world, { webhookEndpointId, status, event, cursor, ...page }) {
    const { number } = await getEndpoint(world, await keyOf(world, webhookEndpointId));
    const limit = limitOf(page);
    const { rows, readTo } = await listDeliveries(world.db, {
      endpointNumber: number,
      below: readCursor(cursor),
      limit: limit + 1,
      status: readStatus(status),
      eventId: event,
    });
    const { data, nextCursor } = toPage(rows, limit, (row) => row.number.toString());
    return { data: data.map(webhookDeliveryRecord), nextCursor: nextCursor ?? readTo?.toString() ?? null };
  },
});

/** Throws CommandError for an endpoint that no account has. */
async function keyOf(world: World, endpointId: string): Promise<EndpointKey> {
  const accountId = await findAccountOfEndpoint(world.db, endpointId);
  if (accountId === undefined) throw new CommandError(`No webhook endpoint has the id ${endpointId}.`);
  return { accountId, endpointId };
}

function withSecret(endpoint: WebhookEndpoint) {
  return { ...webhookEndpointRecord(endpoint), secret: secretText(endpoint.secret) };
}

function splitTypes(typed: string | undefined): string[] | undefined {
  return typed?.split(",").map((type) => type.trim());
}

function readStatus(typed: string | undefined): WebhookDeliveryStatus | undefined {
  if (typed === undefined || STATUSES.includes(typed)) return typed as WebhookDeliveryStatus | undefined;
  throw new UsageError(`--status must be ${STATUSES.join(", ")}, not ${typed}.`);
}

function readCursor(typed: string | undefined): bigint | undefined {
  if (typed === undefined) return undefined;
  if (/^\d{1,18}$/.test(typed)) return BigInt(typed);
  throw new UsageError(`--cursor must be the cursor that the page before ends with, not ${typed}.`);
}
