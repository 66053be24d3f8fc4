import type { TributaryClient } from "@tributary/client";
import { webhooks, WebhookVerificationError, type WebhookEvent, type WebhookHeaders } from "@tributary/client/webhooks";
import type { PaymentIntent } from "@tributary/client/types";
import type { Order, Orders, OrderStatus } from "./orders.ts";

export type Fulfilment = {
  orders: Orders;
  client: Pick<TributaryClient, "getPaymentIntent">;
  /** The endpoint's secret; two while it rotates. */
  secrets: readonly string[];
};

/** How often an order is read again because other events changed it meanwhile. */
const ROUNDS_MAX = 5;

/**
 * Handles one webhook and returns the status to answer with. Any other answer than 2xx brings the event again. An event
 * says only that something changed: what counts is the intent as the service shows it now.
 */
export async function handleWebhook(
  { orders, client, secrets }: Fulfilment,
  request: { rawBody: string | Uint8Array; headers: WebhookHeaders },
): Promise<number> {
  const event = await verify(request, secrets);
  if (event === undefined) return 400;
  if (event.intentId === null) return 204;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    if (orders.hasSeen(event.id)) return 204;
    const order = orders.findByIntent(event.intentId);
    if (order === undefined) return isExpected(orders, event) ? 409 : 204;
    const intent = await client.getPaymentIntent(event.intentId);
    // Another event that comes at the same time may have read the intent later, and have stored what it says.
    if (orders.apply(event.id, { ...order, status: nextStatus(order, intent) })) return 204;
  }
  return 409;
}

/** Undefined for a request that the service did not sign. */
async function verify(
  { rawBody, headers }: { rawBody: string | Uint8Array; headers: WebhookHeaders },
  secrets: readonly string[],
): Promise<WebhookEvent | undefined> {
  try {
    return await webhooks.verify(rawBody, headers, secrets);
  } catch (error) {
    if (error instanceof WebhookVerificationError) return undefined;
    throw error;
  }
}

/**
 * Whether the event has overtaken the response to the create: its order is there, and its intent is not stored yet. Any
 * other intent is none of this shop's orders, and so is unpaid for it.
 */
function isExpected(orders: Orders, { merchantReference }: WebhookEvent): boolean {
  return merchantReference !== null && orders.findByReference(merchantReference)?.status === "new";
}

/** Ship when the intent of a one-time order is settled, and never for an archived one. */
function nextStatus(order: Order, { status }: Pick<PaymentIntent, "status">): OrderStatus {
  if (status === "settled") return "shipped";
  // Shipped, and the chain has taken the payment back: somebody has to look.
  return status === "archived" || order.shipments > 0 ? "stopped" : "placed";
}
