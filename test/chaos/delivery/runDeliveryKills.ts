import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { openDatabase, type Db } from "../../../src/db/database.ts";
import { createEndpoint } from "../../../src/webhook/endpoint/manageEndpoints.ts";
import { createDatabaseOn, startOwnServer } from "../../support/database.ts";
import { readFeedOf } from "../../support/events.ts";
import { insertAccountWithIntents, openWebhooks, Receiver, type Received } from "../../support/webhooks.ts";
import { SeededRandom } from "../seededRandom.ts";

// Processes that deliver webhooks are killed, one after another, while requests are under way.

const PROCESS = fileURLToPath(new URL("./deliverProcess.ts", import.meta.url));
const ACCOUNTS = 2;
const ENDPOINTS = 2;
const INTENTS = 3;
const EVENTS_PER_LIFE = 12;
/** Longer than a lease, and shorter than a clock may step. */
const AHEAD_MS = 9_000;
const LIFE_MS_MAX = 400;
const FAILING_ONE_IN = 16;
const HANGING_ONE_IN = 16;
const WAIT_MS_MAX = 60_000;

export type DeliveryKills = {
  kills: number;
  /** Events that were appended. */
  events: number;
  requests: number;
  /** Events that an endpoint did not get, ids that changed, events behind later ones of their intent, open rows. */
  missing: string[];
  changed: string[];
  disordered: string[];
  open: number;
  exitCode: number | null;
};

export async function runDeliveryKills({ kills, seed }: { kills: number; seed: number }): Promise<DeliveryKills> {
  const closing = new AsyncDisposableStack();
  try {
    const server = await startOwnServer({ isDurable: true });
    closing.defer(() => server.remove());
    const url = await createDatabaseOn(server, "service");
    const db = await openDatabase({ url, poolSizeMax: 2 });
    closing.defer(() => db.close());
    return await killInTurn({ db, url, closing, random: new SeededRandom(seed) }, kills);
  } finally {
    await closing.disposeAsync();
  }
}

type Run = { db: Db; url: string; closing: AsyncDisposableStack; random: SeededRandom };

async function killInTurn({ db, url, closing, random }: Run, kills: number): Promise<DeliveryKills> {
  const webhooks = openWebhooks(db);
  closing.defer(() => webhooks.close());
  const shops = await openShops({ db, webhooks, closing, random });
  let events = 0;
  const append = async () => {
    for (const { accountId, intents } of shops) {
      const changes = Array.from({ length: EVENTS_PER_LIFE }, () => {
        events += 1;
        return { intentNumber: intents[random.below(INTENTS)] ?? null, label: String(events) };
      });
      await webhooks.appendChanges(accountId, changes);
    }
  };
  const requests = () =>
    shops.flatMap(({ receivers }) => receivers).reduce((sum, each) => sum + each.received.length, 0);
  for (let life = 0; life < kills; life += 1) {
    const child = await startProcess(url, life * AHEAD_MS);
    const before = requests();
    await append();
    // It has begun to deliver, and is somewhere in the middle.
    await until(() => requests() > before);
    await delay(random.below(LIFE_MS_MAX));
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  const last = await startProcess(url, kills * AHEAD_MS);
  await append();
  await until(async () => (await countOpen(db)) === 0).catch(() => undefined);
  last.kill("SIGTERM");
  const [exitCode] = (await once(last, "exit")) as [number | null];
  return { kills, events, requests: requests(), ...(await compare(db, shops)), open: await countOpen(db), exitCode };
}

type Shop = { accountId: string; intents: bigint[]; receivers: Receiver[] };

async function openShops(parts: {
  db: Db;
  webhooks: ReturnType<typeof openWebhooks>;
  closing: AsyncDisposableStack;
  random: SeededRandom;
}): Promise<Shop[]> {
  const { db, webhooks, closing, random } = parts;
  const shops: Shop[] = [];
  for (let account = 0; account < ACCOUNTS; account += 1) {
    const { accountId, intents } = await insertAccountWithIntents(db, INTENTS);
    const receivers: Receiver[] = [];
    for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1) {
      const receiver = new Receiver();
      closing.defer(() => receiver.close());
      const tried = new Set<string>();
      // Each event fails at most once, so that a run needs no second wait.
      receiver.behave = ({ id }) => {
        const isFirst = !tried.has(id);
        tried.add(id);
        if (isFirst && random.oneIn(FAILING_ONE_IN)) return 500;
        return isFirst && random.oneIn(HANGING_ONE_IN) ? undefined : 204;
      };
      receivers.push(receiver);
      await createEndpoint(webhooks.world, { accountId, input: { url: await receiver.listen() } });
    }
    shops.push({ accountId, intents: intents.map(({ seq }) => seq), receivers });
  }
  return shops;
}

async function startProcess(url: string, aheadMs: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["--no-warnings", PROCESS, url, String(aheadMs)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("the process has no output");
  await once(child.stdout, "data");
  return child;
}

async function countOpen(db: Db): Promise<number> {
  const { rows } = await sql<{ open: number }>`
    select ((select count(*) from webhook_delivery where status <> 'succeeded') + (select count(*) from event where sequence is null)
      + (select count(*) from webhook_endpoint where is_behind))::int as open`.execute(db.root);
  return rows[0]?.open ?? 0;
}

function findChanged(received: readonly Received[]): string[] {
  const bodies = new Map<string, string>();
  return received.flatMap(({ id, body, event }) => {
    const first = bodies.get(id) ?? body;
    bodies.set(id, first);
    return id === event.id && body === first ? [] : [id];
  });
}

/** Events that came behind a later one of their intent. */
function findDisordered(received: readonly Received[]): string[] {
  const last = new Map<string | null, number>();
  return received.flatMap(({ id, event: { intentId, sequence } }) => {
    const before = last.get(intentId) ?? 0;
    last.set(intentId, sequence);
    return sequence < before ? [id] : [];
  });
}

async function compare(db: Db, shops: readonly Shop[]) {
  const [missing, changed, disordered]: [string[], string[], string[]] = [[], [], []];
  for (const { accountId, receivers } of shops) {
    const feed = await readFeedOf(db, { accountId });
    feed.forEach(({ sequence }, index) => {
      if (sequence !== index + 1) missing.push(`sequence ${index + 1}`);
    });
    for (const { received } of receivers) {
      const got = new Set(received.map(({ id }) => id));
      missing.push(...feed.filter(({ id }) => !got.has(id)).map(({ id }) => id));
      changed.push(...findChanged(received));
      disordered.push(...findDisordered(received));
    }
  }
  return { missing, changed, disordered };
}

async function until(isDone: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new Error("it takes too long");
    await delay(20);
  }
}
