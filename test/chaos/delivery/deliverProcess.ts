import { openDatabase } from "../../../src/db/database.ts";
import { runLoop } from "../../../src/loops/loop.ts";
import { assignEventSequencesLoop } from "../../../src/loops/event/assignEventSequencesLoop.ts";
import { webhookLoops } from "../../../src/loops/webhook/webhookLoops.ts";
import type { World } from "../../../src/world.ts";
import { openWebhooks } from "../../support/webhooks.ts";

// A process that numbers events and delivers them until it is killed: node deliverProcess.ts DATABASE_URL AHEAD_MS. Its
// clock is ahead by the leases of the processes that were killed before it, so that no run waits for them.

const TIMEOUT_MS = 1_000;

const [url = "", aheadMs = "0"] = process.argv.slice(2);
const db = await openDatabase({ url, poolSizeMax: 4 });
const { world, clock } = openWebhooks(db, { timeoutMs: TIMEOUT_MS });
clock.advance(Number(aheadMs));
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());
const loops = [
  assignEventSequencesLoop(world as unknown as World),
  ...webhookLoops(world as unknown as World, world.outbound),
];
const running = Promise.all(loops.map((loop) => runLoop(world, loop, ending.signal)));
console.log("ready");
await running;
await world.outbound.close();
await db.close();
