import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, type TributaryClient } from "@tributary/client";
import { webhooks } from "@tributary/client/webhooks";
import { paginate } from "@tributary/client/paginate";
import type { CreatedPaymentIntent, Deposit, PaymentIntent, WebhookEvent } from "@tributary/client/types";

// The compiler checks this file: lines marked with @ts-expect-error must fail, all others must compile.

const tributary = createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "none" });

export async function validCalls(client: TributaryClient): Promise<void> {
  const created: CreatedPaymentIntent = await client.createPaymentIntent(
    { priceUnits: 1, oneTime: null },
    { idempotencyKey: "a" },
  );
  const intent: PaymentIntent = created;
  const token: string = created.widgetToken;
  await client.createPaymentIntent();
  await client.createIntentSourceInbox(intent.intentId, { chainId: 1 });
  await client.createIntentSourceInbox(intent.intentId, { namespace: "solana", reference: "x", mint: token });
  await client.recordIntentView(intent.intentId);
  await client.replacePageOrigins({ origins: ["https://shop.example"] });
  const accent: string | null = (await client.updateAccount({ brand: { logo: null } })).brand.accent;
  assert.ok(accent === null || (await client.getAccount()).scopes.length > 0);
  await client.listPaymentIntents({ limit: 10, merchantReference: "a" });
  for await (const deposit of paginate((query) => client.listIntentDeposits(intent.intentId, query))) {
    const status: Deposit["status"] = deposit.status;
    assert.ok(status);
  }
}

export async function invalidCalls(client: TributaryClient): Promise<void> {
  // @ts-expect-error a price is a number of millionths
  await client.createPaymentIntent({ priceUnits: "25" });
  // @ts-expect-error an unknown field is a type error
  await client.createPaymentIntent({ payoutWalet: "0x" });
  // @ts-expect-error only two namespaces exist
  await client.createPaymentIntent({ payoutNamespace: "evm" });
  // @ts-expect-error an origin is required
  await client.createIntentSourceInbox("pi_1");
  // @ts-expect-error an origin has a chain id or three parts
  await client.createIntentSourceInbox("pi_1", { chainId: 1, namespace: "solana", reference: "x", mint: "y" });
  // @ts-expect-error a selection has three fields
  await client.recordIntentView("pi_1", { selection: { namespace: "eip155" } });
  // @ts-expect-error a key changes no payout
  await client.updateAccount({ payout: { wallet: "0x1" } });
  // @ts-expect-error the list is required
  await client.replacePageOrigins({});
  // @ts-expect-error a read takes no key
  await client.getPaymentIntent("pi_1", { idempotencyKey: "a" });
  // @ts-expect-error amounts in answers are strings
  const units: number = (await client.getPaymentIntent("pi_1")).amounts.countedUnits;
  // @ts-expect-error only a create returns the widget token
  const token: unknown = (await client.getPaymentIntent("pi_1")).widgetToken;
  // @ts-expect-error the status does not exist
  if ((await client.getPaymentIntent("pi_1")).status === "paid") assert.ok(units && token);
}

export async function webhookEvents(body: string, headers: Headers): Promise<string> {
  const event: WebhookEvent = await webhooks.verify(body, headers, "whsec_AAAA");
  // @ts-expect-error what the object is follows from the type
  assert.ok(event.data.object.amounts);
  switch (event.type) {
    case "payment_intent.settled":
      return event.data.object.status;
    case "deposit.counted":
      return event.data.object.amountUnits;
    case "webhook_endpoint.test":
      return event.data.object.url;
    // @ts-expect-error no event has this type
    case "payment_intent.shipped":
      return "";
    default:
      return event.type;
  }
}

test("the client has createPaymentIntent at runtime", () => {
  assert.equal(typeof tributary.createPaymentIntent, "function");
});
