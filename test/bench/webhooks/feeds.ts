import { get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { sql } from "kysely";
import { assignEventSequences } from "../../../src/event/assignEventSequences.ts";
import { readFeed } from "../../../src/event/listEvents.ts";
import { shownColumns, showEvent, type ShownEventRow } from "../../../src/event/showEvent.ts";
import { openTestApi, type Merchant } from "../../support/api.ts";
import { appendAccountEvents } from "../../support/events.ts";
import { insertAccount } from "../../support/intents.ts";
import { percentile } from "../detect/statistics.ts";
import { secondsOf, until, type BenchWorld, type Figure, type Sizes } from "./benchWorld.ts";

const PAGE = 100;
const PAGES_OF_ACCOUNT = 20;
const PATH = "/api/v1/events/stream";

type Client = { accountId: string; chunks: number; close(): void };

/** From the commit of an event until a client has it, with one client and with very many. */
export async function benchStreams(world: BenchWorld, { streams, accounts, events }: Sizes): Promise<Figure[]> {
  const api = await openTestApi(world.db);
  await api.server.listen({ host: "127.0.0.1", port: 0 });
  const { port } = api.server.server.address() as AddressInfo;
  const merchants: Merchant[] = [];
  for (let count = 0; count < accounts; count += 1) merchants.push(await api.openMerchant());
  const clients: Client[] = [];
  const open = async (merchant: Merchant) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    get({ host: "127.0.0.1", port, path: PATH, headers: merchant.headers, agent: false }, resolve).on("error", reject);
    const response = await promise;
    if (response.statusCode !== 200) throw new Error(`a stream is refused: ${response.statusCode}`);
    const client: Client = { accountId: merchant.accountId, chunks: 0, close: () => response.destroy() };
    response.on("data", (chunk: Buffer) => (client.chunks += chunk.includes("data:") ? 1 : 0)).on("error", () => {});
    clients.push(client);
  };
  const [first] = merchants;
  if (first === undefined) throw new Error("no account");
  const measure = async () => {
    const delays: number[] = [];
    for (let index = 0; index < events; index += 1) {
      const own = clients[index % clients.length];
      const peers = clients.filter(({ accountId }) => accountId === own?.accountId);
      const before = peers.map(({ chunks }) => chunks);
      await appendAccountEvents(api.world, own?.accountId ?? "", 1);
      const committedMs = performance.now();
      while (!(await assignEventSequences(api.world)).isDone);
      api.world.wake.notify("event streams");
      // The last of its account's clients has it.
      await until(() => peers.every(({ chunks }, peer) => chunks > (before[peer] ?? 0)));
      delays.push(performance.now() - committedMs);
    }
    return percentile(delays, 0.99);
  };
  await open(first);
  const bare = await measure();
  for (let count = 1; count < streams; count += 1) await open(merchants[count % accounts] ?? first);
  const ours = await measure();
  for (const client of clients) client.close();
  await api.server.close();
  const what = `p99 of an event in a stream, ${streams} clients of ${accounts} accounts`;
  return [{ what, ours, bare, unit: "ms with one", target: 2, isAtLeast: false }];
}

/** Pages of the feed, beside the bare statement that reads the same rows. */
export async function benchPages(world: BenchWorld, { pages }: Sizes): Promise<Figure[]> {
  const { db } = world;
  const accountId = await insertAccount(db);
  await appendAccountEvents(world.webhooks.world, accountId, PAGE * PAGES_OF_ACCOUNT);
  while (!(await assignEventSequences(world.webhooks.world)).isDone);
  await sql`analyze event`.execute(db.root);
  const after = (page: number) => BigInt((page % PAGES_OF_ACCOUNT) * PAGE);
  const readPage = (page: number) =>
    readFeed(db, { accountId, after: after(page), limit: PAGE, types: undefined, intentId: undefined });
  const readBare = async (page: number) => {
    const { rows } = await sql<ShownEventRow>`select ${sql.raw(shownColumns("event"))}
      from event left join intent on intent.seq = event.intent_number
      where event.account_number = (select number from account where id = ${accountId}) and event.sequence is not null
        and event.sequence > ${after(page)} order by event.sequence limit ${PAGE}`.execute(db.root);
    return rows.map(showEvent);
  };
  const rate = async (read: (page: number) => Promise<unknown>) =>
    pages /
    (await secondsOf(async () => {
      for (let page = 0; page < pages; page += 1) await read(page);
    }));
  await rate(readPage);
  await rate(readBare);
  const [bare, ours] = [await rate(readBare), await rate(readPage)];
  return [{ what: "pages of the feed", ours, bare, unit: "a second by bare SQL", target: 0.8, isAtLeast: true }];
}
