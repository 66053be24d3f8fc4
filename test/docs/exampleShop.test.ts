import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import type { TributaryClient } from "@tributary/client";
import { handleWebhook } from "../../examples/shop/fulfil.ts";
import { Orders } from "../../examples/shop/orders.ts";
import { signatureHeaders } from "../../src/webhook/sign.ts";

// What the example shop does with single events. test/cli/exampleShop.test.ts runs the whole of it beside a dev world.

const KEY = Buffer.from("thirty-two bytes of a secret !!!");
const REFERENCE = "order-7";
const INTENT = "pi_7";

type Answer = () => string | Promise<string>;

/** A shop with one order. `handle` takes an event, and what the service answers about its intent in turn. */
function openShop(t: TestContext) {
  const orders = new Orders(":memory:");
  t.after(() => orders.close());
  orders.add({ reference: REFERENCE, title: "Atlas", priceUnits: 1 });
  const handle = (id: string, answers: Answer[]) => {
    const getPaymentIntent = async () =>
      ({ status: await answers.shift()?.() }) as Awaited<ReturnType<TributaryClient["getPaymentIntent"]>>;
    const type = "payment_intent.settled";
    const rawBody = JSON.stringify({ id, type, intentId: INTENT, merchantReference: REFERENCE });
    const headers = signatureHeaders({ id, at: new Date(), body: rawBody, secrets: [KEY] });
    const secrets = [`whsec_${KEY.toString("base64")}`];
    return handleWebhook({ orders, client: { getPaymentIntent }, secrets }, { rawBody, headers });
  };
  const read = () => {
    const { status, shipments } = orders.findByReference(REFERENCE) ?? assert.fail();
    return [status, shipments];
  };
  return { orders, handle, read };
}

test("an event that comes before the answer to the create is refused with 409, and comes again", async (t) => {
  const { orders, handle, read } = openShop(t);
  assert.equal(await handle("evt_1", []), 409);
  orders.storeIntent(REFERENCE, { intentId: INTENT });
  assert.equal(await handle("evt_1", [() => "settled"]), 204);
  assert.deepEqual(read(), ["shipped", 1]);
});

test("an order ends as its intent does when two events come at once and the older answer arrives last", async (t) => {
  const { orders, handle, read } = openShop(t);
  orders.storeIntent(REFERENCE, { intentId: INTENT });
  // Settled, undone and settled again.
  assert.equal(await handle("evt_1", [() => "settled"]), 204);
  const [isAsked, late] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
  const ask = () => {
    isAsked.resolve();
    return late.promise;
  };
  const undone = handle("evt_2", [ask, () => "settled"]);
  await isAsked.promise;
  assert.equal(await handle("evt_3", [() => "settled"]), 204);
  late.resolve("active");
  assert.equal(await undone, 204);
  assert.deepEqual(read(), ["shipped", 1]);
});

test("an order that other events keep changing is refused with 409, and comes again", async (t) => {
  const { orders, handle, read } = openShop(t);
  orders.storeIntent(REFERENCE, { intentId: INTENT });
  let others = 0;
  const answer = async () => {
    others += 1;
    await handle(`evt_other_${others}`, [() => "settled"]);
    return "active";
  };
  assert.equal(
    await handle(
      "evt_1",
      Array.from({ length: 10 }, () => answer),
    ),
    409,
  );
  assert.deepEqual(read(), ["shipped", 1]);
});
