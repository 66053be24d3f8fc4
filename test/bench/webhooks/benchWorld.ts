import { openDatabase, type Db } from "../../../src/db/database.ts";
import { runLoop } from "../../../src/loops/loop.ts";
import { assignEventSequencesLoop } from "../../../src/loops/event/assignEventSequencesLoop.ts";
import { webhookLoops } from "../../../src/loops/webhook/webhookLoops.ts";
import type { World } from "../../../src/world.ts";
import { createDatabaseOn, startOwnServer } from "../../support/database.ts";
import { openWebhooks, Receiver } from "../../support/webhooks.ts";

/** `bare`: the same without the part that is measured. */
export type Figure = { what: string; ours: number; bare: number; unit: string; target: number; isAtLeast: boolean };

export type Sizes = {
  requests: number;
  events: number;
  backlog: number;
  hanging: number;
  streams: number;
  accounts: number;
  pages: number;
};

export type BenchWorld = {
  db: Db;
  webhooks: ReturnType<typeof openWebhooks>;
  openReceiver(): Promise<{ receiver: Receiver; url: string }>;
  /** Runs the loops of events and webhooks until the bench ends. */
  runLoops(): void;
  close(): Promise<void>;
};

/** Longer than a bench may take. */
const TIMEOUT_MS = 600_000;

export async function openBenchWorld(): Promise<BenchWorld> {
  const server = await startOwnServer({ isDurable: true });
  const url = await createDatabaseOn(server, "service");
  const db = await openDatabase({ url, poolSizeMax: 10 });
  const webhooks = openWebhooks(db);
  const ending = new AbortController();
  const receivers: Receiver[] = [];
  let running: Promise<unknown> = Promise.resolve();
  return {
    db,
    webhooks,
    async openReceiver() {
      const receiver = new Receiver();
      receivers.push(receiver);
      return { receiver, url: await receiver.listen() };
    },
    runLoops() {
      const world = webhooks.world as unknown as World;
      const loops = [assignEventSequencesLoop(world), ...webhookLoops(world, webhooks.world.outbound)];
      running = Promise.all(loops.map((loop) => runLoop(webhooks.world, loop, ending.signal)));
    },
    async close() {
      ending.abort();
      for (const receiver of receivers) receiver.close();
      await running;
      await webhooks.close();
      await db.close();
      await server.remove();
    },
  };
}

/** Resolves once the condition holds. It is looked at after each turn of the event loop. */
export async function until(isDone: () => boolean): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (!isDone()) {
    if (performance.now() > deadline) throw new Error("the bench takes too long");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

export async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1_000;
}
