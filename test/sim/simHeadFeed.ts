import { ProviderFailed, type BlockRef } from "../../src/chain/reader.ts";
import type { HeadFeed, HeadListener } from "../../src/chain/headFeed.ts";
import type { ScriptedBlock } from "./chain/transaction.ts";
import { hashOf } from "./chain/transaction.ts";
import type { SimProcess } from "./simProcess.ts";
import type { SimNode } from "./simProvider.ts";

// Pushed heads as a process receives them: late, twice, out of order or not at all, until the connection is lost or
// silently stalls. Some pushed heads do not exist.

const CONNECTION_MS_MAX = 90_000;
/** The longest delay of a head. */
const DELAY_MS_MAX = 9_000;

export function openSimHeadFeed(node: SimNode, process: SimProcess): HeadFeed {
  return { name: node.name, follow: (listener, signal) => followHeads(node, process, { listener, signal }) };
}

async function followHeads(
  node: SimNode,
  process: SimProcess,
  { listener, signal }: { listener: HeadListener; signal: AbortSignal },
): Promise<string> {
  const { random, scheduler } = process;
  await process.wait(5 + random.number() * 100, signal);
  if (node.isDown(scheduler.nowMs) || random.chance(0.1))
    throw new ProviderFailed("unreachable", `${node.name} opens no websocket`);
  const endsAtMs = scheduler.nowMs + random.number() * CONNECTION_MS_MAX;
  const silentFromMs = random.chance(0.3) ? scheduler.nowMs + random.number() * CONNECTION_MS_MAX : endsAtMs;
  const pushHead = (block: ScriptedBlock) => {
    if (scheduler.nowMs >= silentFromMs || process.hasCrashed) return;
    for (const { head, delayMs } of drawPushes(block, process)) {
      scheduler.after(delayMs, () => {
        if (!process.hasCrashed) listener.onHead(head);
        return false;
      });
    }
  };
  node.listeners.add(pushHead);
  listener.onOpen();
  try {
    await process.wait(endsAtMs - scheduler.nowMs, signal);
  } finally {
    node.listeners.delete(pushHead);
  }
  return "the connection was lost";
}

function drawPushes(block: ScriptedBlock, { random }: SimProcess): { head: BlockRef; delayMs: number }[] {
  const { number, hash, parentHash, timestampS } = block;
  const head = { number, hash, parentHash, timestampS };
  const soonMs = 1 + random.number() * 20;
  const roll = random.number();
  if (roll < 0.1) return [];
  if (roll < 0.2) return [{ head, delayMs: random.number() * DELAY_MS_MAX }];
  if (roll < 0.3) return [soonMs, soonMs + random.number() * 50].map((delayMs) => ({ head, delayMs }));
  if (roll < 0.34) return [{ head: { ...head, hash: hashOf(hash, "no block") }, delayMs: soonMs }];
  // An existing block with a false parent.
  if (roll < 0.38)
    return [{ head: { ...head, number: number + 1n, hash: parentHash, parentHash: hash }, delayMs: soonMs }];
  return [{ head, delayMs: soonMs }];
}
