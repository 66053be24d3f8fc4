import type { FastifyInstance } from "fastify";
import { formatUnits } from "viem";
import type { TributaryClient } from "@tributary/client";
import { webhooks, WebhookVerificationError, type WebhookEvent } from "@tributary/client/webhooks";
import type { Clock } from "../../kernel/clock.ts";
import { secretText } from "../../webhook/endpoint/endpoint.ts";
import { createEndpoint, deleteEndpoint } from "../../webhook/endpoint/manageEndpoints.ts";
import { listEndpointRows } from "../../webhook/endpoint/endpointStore.ts";
import type { World } from "../../world.ts";

// The demo shop's own webhook: it ships when this says so, and asks nobody in between.

const PATH = "/dev/shop/webhooks";
const DESCRIPTION = "demo shop";
const TYPES = ["payment_intent.*", "settlement.landed"];
const BODY_BYTES_MAX = 1_048_576;
/** Orders that the shop remembers. */
const ORDERS_MAX = 1_000;

type ShopWebhook = { url: string; secret: string };

/** Gives the shop's account an endpoint for this start: the port, and so the URL, may have changed. */
export async function openShopEndpoint(world: World, accountId: string): Promise<ShopWebhook> {
  for (const { id, description } of await listEndpointRows(world.db.root, accountId))
    if (description === DESCRIPTION) await deleteEndpoint(world, { accountId, endpointId: id });
  const url = `${world.config.baseUrl}${PATH}`;
  const input = { url, types: TYPES, description: DESCRIPTION };
  const { secret } = await createEndpoint(world, { accountId, input });
  return { url, secret: secretText(secret) };
}

/** What the page shows of the webhook that shipped an order. */
type Delivery = { eventId: string; type: string; afterMs: number };

type ShopOrder = {
  /** What has arrived in the shop's wallet, as text; null before. */
  settled: string | null;
  delivery: Delivery | null;
};

/** The shop's orders, which change by its webhooks alone. */
export class ShopOrders {
  readonly #orders = new Map<string, ShopOrder>();
  readonly #client: TributaryClient;
  readonly #clock: Pick<Clock, "now">;

  constructor(client: TributaryClient, clock: Pick<Clock, "now">) {
    this.#client = client;
    this.#clock = clock;
  }

  add(intentId: string): void {
    const [oldest = ""] = this.#orders.size >= ORDERS_MAX ? this.#orders.keys() : [];
    this.#orders.delete(oldest);
    this.#orders.set(intentId, { settled: null, delivery: null });
  }

  get(intentId: string): ShopOrder {
    return this.#orders.get(intentId) ?? { settled: null, delivery: null };
  }

  /** Reads the intent of an order again, which is what counts. */
  async receive({ id, type, intentId, createdAt }: WebhookEvent): Promise<void> {
    const order = intentId === null ? undefined : this.#orders.get(intentId);
    if (intentId === null || order === undefined || order.settled !== null) return;
    const { status, amounts, payout } = await this.#client.getPaymentIntent(intentId);
    if (status !== "settled" || amounts.settledUnits !== amounts.countedUnits) return;
    order.settled = `${formatUnits(BigInt(amounts.netUnits), payout.decimals)} USDC`;
    order.delivery = { eventId: id, type, afterMs: Math.max(0, this.#clock.now().getTime() - Date.parse(createdAt)) };
  }
}

/** Adds the URL of the shop's endpoint to a server before it listens. */
export function addShopWebhook(server: FastifyInstance, shop: { orders: ShopOrders; secret: string }): void {
  const { orders, secret } = shop;
  void server.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The signature is over the body as it came.
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, parsed) => parsed(null, body));
    scope.post(PATH, { bodyLimit: BODY_BYTES_MAX }, async (request, reply) => {
      try {
        await orders.receive(await webhooks.verify(request.body as Buffer, request.headers, secret));
        return await reply.code(204).send();
      } catch (error) {
        if (error instanceof WebhookVerificationError) return reply.code(400).send();
        throw error;
      }
    });
    done();
  });
}
