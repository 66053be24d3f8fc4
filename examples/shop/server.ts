import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createClient } from "@tributary/client";
import { handleWebhook } from "./fulfil.ts";
import { Orders, type Order } from "./orders.ts";

// A shop in plain Node. POST /orders places an order and returns the address of its checkout, GET /orders/REFERENCE
// shows it, and POST /webhooks is the URL of its webhook endpoint.

const { SHOP_DATABASE = "shop.sqlite", SHOP_PORT = "3000", TRIBUTARY_API_KEY, WEBHOOK_SECRETS = "" } = process.env;
const TRIBUTARY_URL = process.env["TRIBUTARY_URL"] ?? "http://127.0.0.1:8787";
const PRICE_UNITS = 25_000_000;
const BODY_BYTES_MAX = 1_048_576;

const client = createClient({ baseUrl: TRIBUTARY_URL, apiKey: TRIBUTARY_API_KEY });
const orders = new Orders(SHOP_DATABASE);
const fulfilment = { orders, client, secrets: WEBHOOK_SECRETS.split(",") };

type Answer = { status: number; body?: object };

async function answer(request: IncomingMessage): Promise<Answer> {
  const { method = "", url = "", headers } = request;
  const reference = /^\/orders\/([\w-]+)$/.exec(url)?.[1];
  const body = method === "POST" ? await readBody(request) : "";
  if (body === undefined) return { status: 413 };
  // The body as it came: what a parser writes again has another signature.
  if (method === "POST" && url === "/webhooks")
    return { status: await handleWebhook(fulfilment, { rawBody: body, headers }) };
  if (method === "POST" && url === "/orders") return placeOrder(JSON.parse(body) as { title?: string });
  const order = method === "GET" && reference !== undefined ? orders.findByReference(reference) : undefined;
  return order === undefined ? { status: 404 } : { status: 200, body: order };
}

/** Undefined for a body that is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  let body = "";
  request.setEncoding("utf8");
  for await (const chunk of request) {
    body += String(chunk);
    if (body.length > BODY_BYTES_MAX) return undefined;
  }
  return body;
}

/** The order is stored before its intent is created, so that no intent is without an order. */
async function placeOrder({ title = "The Tidal Atlas" }: { title?: string }): Promise<Answer> {
  const reference = `order-${randomUUID()}`;
  orders.add({ reference, title, priceUnits: PRICE_UNITS });
  const intent = await createIntent({ reference, title, priceUnits: PRICE_UNITS });
  const checkout = `${intent.checkoutUrl}#${intent.widgetToken}`;
  return { status: 201, body: { reference, intentId: intent.intentId, checkout } };
}

/** For a day, a repeat with the same key gets the same intent. */
async function createIntent({ reference, title, priceUnits }: Pick<Order, "reference" | "title" | "priceUnits">) {
  const intent = await client.createPaymentIntent(
    { priceUnits, oneTime: true, merchantReference: reference, description: title },
    { idempotencyKey: reference },
  );
  orders.storeIntent(reference, intent);
  return intent;
}

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // The service, or the payer, tries again.
  const { status, body } = await answer(request).catch((error: unknown) => {
    console.error(error);
    return { status: 500, body: undefined };
  });
  response
    .writeHead(status, { "content-type": "application/json" })
    .end(body === undefined ? "" : JSON.stringify(body));
}

// Orders whose intent was not stored because the shop ended before it was.
for (const order of orders.listNew()) await createIntent(order);
const server = createServer((request, response) => void respond(request, response));
server.listen(Number(SHOP_PORT), "127.0.0.1", () => console.log(`The shop listens on http://127.0.0.1:${SHOP_PORT}`));
