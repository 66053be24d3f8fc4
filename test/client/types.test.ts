import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, type TributaryClient } from "@tributary/client";
import { paginate } from "@tributary/client/paginate";
import type { CreatedPaymentIntent, Deposit, PaymentIntent } from "@tributary/client/types";

// The compiler is the test: each of these lines must have an error, and the others none.

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
  await client.listPaymentIntents({ limit: 10, merchantReference: "a" });
  for await (const deposit of paginate((query) => client.listIntentDeposits(intent.intentId, query))) {
    const status: Deposit["status"] = deposit.status;
    assert.ok(status);
  }
}

export async function invalidCalls(client: TributaryClient): Promise<void> {
  // @ts-expect-error a price is a number of millionths
  await client.createPaymentIntent({ priceUnits: "25" });
  // @ts-expect-error a slip in a name is seen before it is sent
  await client.createPaymentIntent({ payoutWalet: "0x" });
  // @ts-expect-error there are two namespaces
  await client.createPaymentIntent({ payoutNamespace: "evm" });
  // @ts-expect-error an origin must be named
  await client.createIntentSourceInbox("pi_1");
  // @ts-expect-error by chain id or by three parts, not both
  await client.createIntentSourceInbox("pi_1", { chainId: 1, namespace: "solana", reference: "x", mint: "y" });
  // @ts-expect-error a selection has three fields
  await client.recordIntentView("pi_1", { selection: { namespace: "eip155" } });
  // @ts-expect-error a read takes no key
  await client.getPaymentIntent("pi_1", { idempotencyKey: "a" });
  // @ts-expect-error an answer's amounts are texts
  const units: number = (await client.getPaymentIntent("pi_1")).amounts.countedUnits;
  // @ts-expect-error only a create tells the widget token
  const token: unknown = (await client.getPaymentIntent("pi_1")).widgetToken;
  // @ts-expect-error there is no such status
  if ((await client.getPaymentIntent("pi_1")).status === "paid") assert.ok(units && token);
}

test("the client has a method for each operation that it has types for", () => {
  assert.equal(typeof tributary.createPaymentIntent, "function");
});
