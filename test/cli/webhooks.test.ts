import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@tributary/client";
import { webhooks } from "@tributary/client/webhooks";
import { renderCli, spawnCli } from "../support/cli.ts";
import { useDevWorld } from "../support/devWorld.ts";

type Request = { headers: IncomingHttpHeaders; body: string };

/** A merchant's server that keeps what it gets. */
async function openReceiver() {
  const requests: Request[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      requests.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
  const until = async (count: number) => {
    while (requests.length < count) await delay(50);
    return requests;
  };
  return { url, until, close: () => server.close() };
}

describe("webhooks", () => {
  const world = useDevWorld();
  const run = (...words: string[]) => renderCli(words, world.variables);
  async function json<T>(...words: string[]): Promise<T> {
    const { code, out, err } = await run(...words, "--json");
    assert.equal(code, 0, err);
    return JSON.parse(out) as T;
  }
  const open = async () => {
    const wallet = "0x00000000000000000000000000000000000f00d5";
    const create = ["accounts", "create", "Shop", "--chain", "dev-one", "--wallet", wallet];
    const { accountId } = await json<{ accountId: string }>(...create);
    const { apiKey } = await json<{ apiKey: string }>("keys", "create", accountId);
    return { accountId, apiKey, client: createClient({ baseUrl: world.dev.ready.baseUrl, apiKey }) };
  };

  test("D35 an endpoint is created, tested, changed, rotated, replayed and deleted, and its deliveries are listed", async (context) => {
    const { accountId, client } = await open();
    const receiver = await openReceiver();
    context.after(receiver.close);
    type Endpoint = { webhookEndpointId: string; secret: string; status: string };
    const { intentId } = await client.createPaymentIntent();
    while ((await client.listEvents()).data.length === 0) await delay(50);
    const created = await json<Endpoint>("webhooks", "create", accountId, receiver.url, "--types", "payment_intent.*");
    const id = created.webhookEndpointId;
    const { eventId } = await json<{ eventId: string }>("webhooks", "test", id);
    const [first] = await receiver.until(1);
    assert.ok(first);
    assert.equal((await webhooks.verify(first.body, first.headers, created.secret)).id, eventId);

    const rotated = await json<Endpoint>("webhooks", "rotate", id);
    assert.notEqual(rotated.secret, created.secret);
    assert.deepEqual(await json("webhooks", "redeliver", id, "--from", "1", "--to", "1"), { count: 1 });
    const second = (await receiver.until(2))[1] ?? assert.fail();
    for (const secret of [created.secret, rotated.secret])
      assert.equal((await webhooks.verify(second.body, second.headers, secret)).intentId, intentId);

    type Delivery = { status: string; attempts: { statusCode: number }[] };
    let deliveries: Delivery[] = [];
    while (deliveries.filter(({ status }) => status === "succeeded").length < 2)
      deliveries = await json("webhooks", "deliveries", id);
    assert.deepEqual(
      deliveries.map(({ attempts }) => attempts.map(({ statusCode }) => statusCode)),
      [[204], [204]],
    );
    assert.equal((await json<Endpoint>("webhooks", "update", id, "--status", "disabled")).status, "disabled");
    const table = await run("webhooks", "list", accountId);
    assert.match(table.out, new RegExp(`${id} .* payment_intent\\.\\* +disabled: requested`));
    assert.match((await run("webhooks", "test", id)).err, /disabled/);
    assert.equal((await run("webhooks", "delete", id)).code, 0);
    const gone = await run("webhooks", "rotate", id);
    assert.deepEqual([gone.code, /No webhook endpoint has the id we_/.test(gone.err)], [1, true]);
  });

  test("wrong input of a webhook command names its option", async () => {
    const { accountId } = await open();
    const type = await run("webhooks", "create", accountId, "http://127.0.0.1:9/x", "--types", "deposit.seem");
    assert.match(type.err, /deposit\.seem/);
    assert.equal((await run("webhooks", "create", accountId, "ftp://shop.example")).code, 2);
    assert.match((await run("webhooks", "listen")).err, /--forward-to/);
    const create = ["webhooks", "create", accountId, "http://127.0.0.1:9/x"];
    const { webhookEndpointId: id } = await json<{ webhookEndpointId: string }>(...create);
    assert.match((await run("webhooks", "redeliver", id, "--from", "1")).err, /--from and --to/);
    assert.match((await run("webhooks", "update", id, "--status", "paused")).err, /--status must be/);
    assert.match((await run("webhooks", "deliveries", id, "--status", "x")).err, /--status must be/);
  });

  test("events tail shows what the feed of its account shows, the latest first and then each new one", async () => {
    const { accountId, client } = await open();
    const { intentId: other } = await client.createPaymentIntent();
    while ((await client.listEvents()).data.length === 0) await delay(50);
    const tail = spawnCli(["events", "tail", "--account", accountId, "--json"], world.variables);
    assert.ok(tail.stdout !== null);
    const shown: { id: string; intentId: string }[] = [];
    for await (const line of createInterface({ input: tail.stdout })) {
      shown.push(JSON.parse(line) as (typeof shown)[number]);
      if (shown.length === 1) await client.archivePaymentIntent(other);
      if (shown.length === 2) await client.createPaymentIntent();
      if (shown.length === 3) break;
    }
    tail.kill("SIGTERM");
    const { data } = await client.listEvents();
    assert.deepEqual(
      shown.map(({ id }) => id),
      data.map(({ id }) => id),
    );
  });

  test("D33 listen forwards each event with a valid signature, beginning with the next one", async () => {
    const { apiKey, client } = await open();
    const receiver = await openReceiver();
    await client.createPaymentIntent();
    while ((await client.listEvents()).data.length === 0) await delay(50);
    const secret = "whsec_dGhpcnR5LXR3byBieXRlcyBvZiBhbiBleGFtcGxlISE=";
    const api = ["--base-url", world.dev.ready.baseUrl, "--api-key-env", "KEY", "--secret-env", "SECRET"];
    const listening = spawnCli(["webhooks", "listen", "--forward-to", receiver.url, ...api, "--json"], {
      ...world.variables,
      KEY: apiKey,
      SECRET: secret,
    });
    assert.ok(listening.stderr !== null && listening.stdout !== null);
    const out = text(listening.stdout);
    for await (const chunk of listening.stderr.iterator({ destroyOnReturn: false }))
      if (String(chunk).includes("Forwarding")) break;
    const { intentId } = await client.createPaymentIntent();
    await client.archivePaymentIntent(intentId);
    const requests = await receiver.until(2);
    const events = await Promise.all(requests.map(({ body, headers }) => webhooks.verify(body, headers, secret)));
    assert.deepEqual(
      events.map((event) => [event.type, event.intentId]),
      [
        ["payment_intent.created", intentId],
        ["payment_intent.archived", intentId],
      ],
    );
    listening.kill("SIGTERM");
    assert.match(await out, /"status":204/);
    receiver.close();
  });
});
