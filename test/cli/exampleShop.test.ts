import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createClient, type TributaryClient } from "@tributary/client";
import { readEvents } from "@tributary/client/events";
import type { Event } from "@tributary/client/types";
import { signatureHeaders } from "../../src/webhook/sign.ts";
import { SeededRandom } from "../sim/seededRandom.ts";
import { renderCli } from "../support/cli.ts";
import { useDevWorld } from "../support/devWorld.ts";
import { chooseFreePort } from "../support/freePort.ts";

// The example shop beside a dev world, as its README starts it.

const SERVER = fileURLToPath(new URL("../../examples/shop/server.ts", import.meta.url));
const ORDERS = 3;
const WAIT_MS_MAX = 120_000;

type Order = { reference: string; status: string; shipments: number };
type Placed = { reference: string; intentId: string; checkout: string };

describe("the example shop", () => {
  const world = useDevWorld();
  let shop: ChildProcess;
  let client: TributaryClient;
  let url: string;
  let secret: string;
  let start: () => Promise<void>;

  before(async () => {
    const json = async <T>(...words: string[]): Promise<T> => {
      const { code, out, err } = await renderCli([...words, "--json"], world.variables);
      assert.equal(code, 0, err);
      return JSON.parse(out) as T;
    };
    const wallet = "0x00000000000000000000000000000000000f00d7";
    const create = ["accounts", "create", "Example", "--chain", "dev-one", "--wallet", wallet];
    const { accountId } = await json<{ accountId: string }>(...create);
    const { apiKey } = await json<{ apiKey: string }>("keys", "create", accountId);
    const { baseUrl } = world.dev.ready;
    client = createClient({ baseUrl, apiKey });
    const port = await chooseFreePort();
    url = `http://127.0.0.1:${port}`;
    const endpoint = ["webhooks", "create", accountId, `${url}/webhooks`, "--types", "payment_intent.*"];
    ({ secret } = await json<{ secret: string }>(...endpoint));
    start = async () => {
      shop = spawn(process.execPath, ["--no-warnings", SERVER], {
        env: {
          PATH: process.env["PATH"],
          TRIBUTARY_URL: baseUrl,
          TRIBUTARY_API_KEY: apiKey,
          WEBHOOK_SECRETS: `whsec_b2xkZXIgc2VjcmV0IG9mIHRoaXMgc2hvcCEh,${secret}`,
          SHOP_PORT: String(port),
          SHOP_DATABASE: join(world.folder, "shop.sqlite"),
        },
        stdio: ["ignore", "pipe", "inherit"],
      });
      assert.match(String(await once(shop.stdout ?? assert.fail(), "data")), /The shop listens/);
    };
    await start();
  });
  after(() => shop.kill("SIGKILL"));

  const orderOf = async (reference: string) => (await (await fetch(`${url}/orders/${reference}`)).json()) as Order;

  async function place(): Promise<Placed> {
    const response = await fetch(`${url}/orders`, { method: "POST", body: '{"title": "The Tidal Atlas"}' });
    assert.equal(response.status, 201);
    return (await response.json()) as Placed;
  }

  async function send(event: Pick<Event, "id"> & Partial<Event>, signing = secret): Promise<number> {
    const body = JSON.stringify(event);
    const key = Buffer.from(signing.slice("whsec_".length), "base64");
    const headers = signatureHeaders({ id: event.id, at: new Date(), body, secrets: [key] });
    return (await fetch(`${url}/webhooks`, { method: "POST", headers, body })).status;
  }

  test("it ships what is settled, once, whatever comes twice, shuffled, forged or after a crash", async () => {
    const placed = await Promise.all(Array.from({ length: ORDERS }, place));
    const [unpaid, ...paid] = placed;
    assert.ok(unpaid && unpaid.checkout.includes(`/c/${unpaid.intentId}#wt_`));
    for (const { intentId } of paid) {
      const { code, err } = await renderCli(["pay", intentId], world.variables);
      assert.equal(code, 0, err);
    }
    const deadline = performance.now() + WAIT_MS_MAX;
    const shipped = async () =>
      (await Promise.all(paid.map(({ reference }) => orderOf(reference)))).map((o) => o.status);
    while ((await shipped()).includes("placed") && performance.now() < deadline) await delay(100);
    assert.deepEqual(
      await shipped(),
      paid.map(() => "shipped"),
    );

    shop.kill("SIGKILL");
    await once(shop, "exit");
    await start();
    const events = await Array.fromAsync(readEvents(client.listEvents));
    const doubled = new SeededRandom("shop").shuffled([...events, ...events]);
    for (const event of doubled) assert.equal(await send(event), 204);
    // The same event with another id is another event: the order it is about has been shipped.
    for (const event of events) assert.equal(await send({ ...event, id: `${event.id}_again` }), 204);
    const after = await Promise.all(placed.map(({ reference }) => orderOf(reference)));
    assert.deepEqual(
      after.map(({ status, shipments }) => [status, shipments]),
      [["placed", 0], ...paid.map(() => ["shipped", 1])],
    );
  });

  test("it refuses what nobody signed, waits for its own order, and never ships what it did not order or was archived", async () => {
    const { reference, intentId } = await place();
    const settled = { type: "payment_intent.settled", intentId, merchantReference: reference };
    const other = `whsec_${Buffer.from("another secret of thirty-two bytes").toString("base64")}`;
    assert.equal(await send({ id: "evt_forged", ...settled }, other), 400);
    assert.equal(await send({ id: "evt_early", ...settled }), 204);
    assert.equal((await orderOf(reference)).status, "placed", "the service says that it is not settled");
    assert.equal(
      await send({ id: "evt_foreign", ...settled, intentId: "pi_foreign", merchantReference: "other" }),
      204,
    );
    await client.archivePaymentIntent(intentId);
    assert.equal(await send({ id: "evt_archived", ...settled }), 204);
    assert.deepEqual([(await orderOf(reference)).status, (await orderOf(reference)).shipments], ["stopped", 0]);
  });
});
