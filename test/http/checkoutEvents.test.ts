import assert from "node:assert/strict";
import { once } from "node:events";
import { get as httpGet, type IncomingMessage } from "node:http";
import { after, before, describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { listEventTypesOf } from "../support/events.ts";
import { appendEvents } from "../../src/event/store.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import type { CheckoutState } from "@tributary/checkout/checkoutState";
import type { IntentRow } from "../../src/intent/store.ts";
import type { Db } from "../../src/db/database.ts";
import { openTestApi, type Json, type Merchant, type TestApi } from "../support/api.ts";
import { openCheckout, type OpenCheckout } from "../support/checkout.ts";
import { countMoney } from "../support/countMoney.ts";
import { thoroughDatabases, openTestDatabase } from "../support/database.ts";
import { TEST_CHAIN } from "../support/intents.ts";
import { recordMovements, setHead } from "../support/movements.ts";

const PRICE = 25_000_000;
const MINUTE_MS = 60_000;
const POLLS_MAX = 1_200;
const POLL_MS = 50;
/** Fewer than those after which the feed reads every page again. */
const ROUNDS_MAX = 50;

for (const kind of thoroughDatabases) {
  describe(`events of open pages on ${kind}`, () => {
    let db: Db;
    let api: TestApi;
    let base: string;
    let merchant: Merchant;
    before(async () => {
      db = await openTestDatabase(kind);
      api = await openTestApi(db);
      base = await api.server.listen({ host: "127.0.0.1", port: 0 });
      merchant = await api.openMerchant();
    });
    after(async () => {
      await api.server.close();
      await db.close();
    });

    const open = async (body: object = { priceUnits: PRICE, oneTime: true }) => {
      const created = await merchant.createIntent(body);
      return { created, page: await openCheckout(api, created), intent: await readIntent(db, created) };
    };

    test("a page gets its state at once, and again with each deposit, confirmation and count", async () => {
      const { page, intent } = await open();
      const stream = await openStream(base, page);
      assert.equal(stream.response.headers["content-type"], "text/event-stream; charset=utf-8");
      const first = await stream.next();
      assert.equal(first.stage, "waiting");
      const { terms } = (await page.get("state")).body as CheckoutState;
      assert.deepEqual(first.terms, terms);
      await pay(api, intent, { amountUnits: BigInt(PRICE), block: 10n });
      const seen = await stream.next(({ stage }) => stage === "seen");
      assert.equal(seen.deposits[0]?.confirmations, 1);
      assert.equal("terms" in seen, false, "the page has the terms, which never change");
      await setHead(db, TEST_CHAIN, { number: 11n });
      await stream.next(({ deposits }) => deposits[0]?.confirmations === 2);
      await countMoney(api.world, TEST_CHAIN);
      assert.equal((await stream.next(({ stage }) => stage === "paid")).counted, "25");
      stream.close();
    });

    test("a page that has the current version gets nothing until something happens", async () => {
      const { page, intent } = await open();
      const { version } = (await page.get("state")).body as CheckoutState;
      const stream = await openStream(base, page, { "last-event-id": version });
      await pay(api, intent, { amountUnits: 5_000_000n, block: 20n });
      const change = await stream.next();
      assert.equal(change.stage, "underpaid", "the first event is the change");
      assert.equal("terms" in change, false, "a page that names a version has the terms");
      stream.close();
    });

    test("a transfer below the minimum, which writes no event, is shown at once too", async (t) => {
      const { page, intent } = await open();
      const stream = await openStream(base, page);
      await stream.next();
      const events = () => listEventTypesOf(db, intent.id);
      const before = (await events()).length;
      // The feed sleeps between its rounds, and reads every page again after 150 of them.
      const rounds = t.mock.method(api.world.clock, "sleep").mock;
      await pay(api, intent, { amountUnits: 1_000n, block: 25n });
      const roundsWhenPaid = rounds.callCount();
      const shown = await stream.next();
      assert.deepEqual(
        shown.deposits.map(({ amount, status }) => [amount, status]),
        [["0.001", "seen"]],
      );
      assert.equal((await events()).length, before, "it wrote an event");
      assert.ok(rounds.callCount() - roundsWhenPaid < ROUNDS_MAX, "only the regular read has shown it");
      stream.close();
    });

    test("all pages of a payment get its events, and those of other payments do not", async () => {
      const [one, other] = [await open(), await open()];
      const streams = [await openStream(base, one.page), await openStream(base, one.page)];
      const quiet = await openStream(base, other.page);
      await Promise.all([...streams, quiet].map((stream) => stream.next()));
      await pay(api, one.intent, { amountUnits: 5_000_000n, block: 30n });
      for (const stream of streams) assert.equal((await stream.next()).stage, "underpaid");
      await pay(api, other.intent, { amountUnits: 6_000_000n, block: 31n });
      assert.equal((await quiet.next()).arrived, "6");
      for (const stream of [...streams, quiet]) stream.close();
    });

    test("a change that commits after a later one is not missed", { skip: kind === "pglite" }, async () => {
      const [slow, fast] = [await open(), await open()];
      const [slowStream, fastStream] = [await openStream(base, slow.page), await openStream(base, fast.page)];
      await Promise.all([slowStream.next(), fastStream.next()]);
      const isFastSeen = Promise.withResolvers<void>();
      const slowWrite = db.transaction(async (tx) => {
        const event = {
          type: "deposit.seen",
          accountId: slow.intent.account_id,
          intentNumber: slow.intent.seq,
          livemode: false,
          object: {},
          previous: null,
        } as const;
        await appendEvents(tx, api.world, { events: [event], at: new Date(0) });
        await tx.updateTable("intent").set({ received_units: 1_000_000n }).where("id", "=", slow.intent.id).execute();
        await isFastSeen.promise;
      });
      await pay(api, fast.intent, { amountUnits: 5_000_000n, block: 40n });
      await fastStream.next(({ stage }) => stage === "underpaid");
      isFastSeen.resolve();
      await slowWrite;
      assert.equal((await slowStream.next()).arrived, "1");
      slowStream.close();
      fastStream.close();
    });

    test("another process's pages get what this one has written", { skip: kind === "pglite" }, async () => {
      const { page, intent } = await open();
      const second = await openTestApi(db);
      const secondBase = await second.server.listen({ host: "127.0.0.1", port: 0 });
      const stream = await openStream(secondBase, page);
      await stream.next();
      await pay(api, intent, { amountUnits: 5_000_000n, block: 50n });
      assert.equal((await stream.next()).stage, "underpaid");
      stream.close();
      await second.server.close();
    });

    test("a session has at most 5 streams, and a closed one makes room", async () => {
      const { page } = await open();
      const streams = await Promise.all(Array.from({ length: 5 }, () => openStream(base, page)));
      const sixth = await openStream(base, page);
      assert.equal(sixth.response.statusCode, 429);
      assert.ok(Number(sixth.response.headers["retry-after"]) > 0);
      sixth.close();
      const [first, ...others] = streams;
      first?.close();
      let reopened = await openStream(base, page);
      // The server learns of the end through its socket.
      for (let polls = 0; polls < POLLS_MAX && reopened.response.statusCode !== 200; polls += 1) {
        reopened.close();
        await delay(POLL_MS);
        // Each try counts as a request, and the clock of the limits stands still.
        api.advanceTime(MINUTE_MS);
        reopened = await openStream(base, page);
      }
      assert.equal(reopened.response.statusCode, 200);
      for (const stream of [...others, reopened]) stream.close();
    });

    test("the streams of one payment take room from that payment alone: one too many ends its oldest", async () => {
      const { created, page } = await open();
      const pages: OpenCheckout[] = [];
      for (let count = 0; count < 4; count += 1) {
        // Sessions of one moment are the same.
        api.advanceTime(1_000);
        pages.push(await openCheckout(api, created));
      }
      const oldest = await openStream(base, page);
      await oldest.next();
      // Sessions of one payment are limited each, so several open what is too much.
      const others: Stream[] = [];
      for (const each of pages) for (let count = 0; count < 5; count += 1) others.push(await openStream(base, each));
      assert.ok(others.every(({ response }) => response.statusCode === 200));
      await assert.rejects(oldest.next(), /the stream has ended/);
      assert.match(oldest.received(), /\nretry: 30000\n\n$/, "the browser waits before it opens another one");
      const again = await openStream(base, page);
      assert.equal((await again.next()).stage, "waiting", "the payer's page takes the room of the next oldest");
      await assert.rejects(async () => {
        for (;;) await others[0]?.next();
      }, /the stream has ended/);
      for (const stream of [...others, again]) stream.close();
    });

    test("a stream without a session is refused, and a closing server ends its streams", async () => {
      const { page } = await open();
      const refused = await openStream(base, { ...page, cookie: "" });
      assert.equal(refused.response.statusCode, 401);
      refused.close();
      const closing = await openTestApi(db);
      const stream = await openStream(await closing.server.listen({ host: "127.0.0.1", port: 0 }), page);
      await stream.next();
      await closing.server.close();
      await assert.rejects(stream.next(), /the stream has ended/);
    });
  });
}

async function readIntent(db: Db, { intentId }: Json): Promise<IntentRow> {
  return db.root.selectFrom("intent").selectAll().where("id", "=", intentId).executeTakeFirstOrThrow();
}

async function pay(
  { world }: TestApi,
  intent: IntentRow,
  { amountUnits, block }: { amountUnits: bigint; block: bigint },
): Promise<void> {
  await setHead(world.db, TEST_CHAIN, { number: block });
  await recordMovements(world.db, intent, [{ chainTx: `0x${block.toString(16)}${intent.id}`, amountUnits, block }]);
  await processMovements(world, TEST_CHAIN);
}

type Stream = {
  response: IncomingMessage;
  /** The next event that fulfils the condition; any by default. */
  next(condition?: (state: CheckoutState) => boolean): Promise<CheckoutState>;
  /** The whole text so far. */
  received(): string;
  close(): void;
};

/** Opens the events of a page as a browser does. */
async function openStream(base: string, page: OpenCheckout, headers: Record<string, string> = {}): Promise<Stream> {
  const request = httpGet(`${base}/c/${page.intentId}/events`, { headers: { cookie: page.cookie, ...headers } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.on("error", () => {});
  let received = "";
  const states = readEvents(response, (text) => {
    received += text;
  });
  return {
    response,
    received: () => received,
    async next(condition = () => true) {
      for (;;) {
        const { value, done } = await states.next();
        if (done === true) throw new Error("the stream has ended");
        if (condition(value)) return value;
      }
    },
    close: () => request.destroy(),
  };
}

async function* readEvents(
  response: IncomingMessage,
  onText: (text: string) => void,
): AsyncGenerator<CheckoutState, void> {
  let text = "";
  for await (const chunk of response) {
    onText(String(chunk));
    text += String(chunk);
    const messages = text.split("\n\n");
    text = messages.pop() ?? "";
    for (const message of messages) {
      const data = /^data: (.*)$/m.exec(message)?.[1];
      if (data === undefined) continue;
      const state = JSON.parse(data) as CheckoutState;
      assert.match(message, new RegExp(`^id: ${state.version}$`, "m"));
      assert.match(message, /^event: state$/m);
      yield state;
    }
  }
}
