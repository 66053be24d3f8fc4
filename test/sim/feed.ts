import { ProviderFailed, type BlockRef } from "../../src/chain/driver.ts";
import type { HeadFeed, HeadListener } from "../../src/chain/headFeed.ts";
import type { ScriptedBlock } from "./chain/transaction.ts";
import { digestOf } from "./chain/transaction.ts";
import type { SimProcess } from "./process.ts";
import type { SimNode } from "./provider.ts";

// What a provider pushes, as a process hears it: late, twice, in another order or not at all, until the connection is lost or falls silent
// without a word; and now and then a head that is none.

const LIFE_MS_MAX = 90_000;
/** So late may a head be. */
const LATE_MS_MAX = 9_000;

export function openSimFeed(node: SimNode, process: SimProcess): HeadFeed {
  return { name: node.name, follow: (listener, signal) => follow(node, process, { listener, signal }) };
}

async function follow(
  node: SimNode,
  process: SimProcess,
  { listener, signal }: { listener: HeadListener; signal: AbortSignal },
): Promise<string> {
  const { random, scheduler } = process;
  await process.wait(5 + random.number() * 100, signal);
  if (node.downUntilMs > scheduler.nowMs || random.chance(0.1))
    throw new ProviderFailed("unreachable", `${node.name} opens no websocket`);
  const endsAtMs = scheduler.nowMs + random.number() * LIFE_MS_MAX;
  const silentFromMs = random.chance(0.3) ? scheduler.nowMs + random.number() * LIFE_MS_MAX : endsAtMs;
  const tell = (block: ScriptedBlock) => {
    if (scheduler.nowMs >= silentFromMs || process.isEnded) return;
    for (const { head, delayMs } of toldOf(block, process)) {
      scheduler.after(delayMs, () => {
        if (!process.isEnded) listener.onHead(head);
        return false;
      });
    }
  };
  node.listeners.add(tell);
  listener.onOpen();
  try {
    await process.wait(endsAtMs - scheduler.nowMs, signal);
  } finally {
    node.listeners.delete(tell);
  }
  return "the connection was lost";
}

function toldOf(block: ScriptedBlock, { random }: SimProcess): { head: BlockRef; delayMs: number }[] {
  const { number, hash, parentHash, timestampS } = block;
  const head = { number, hash, parentHash, timestampS };
  const soonMs = 1 + random.number() * 20;
  const whim = random.number();
  if (whim < 0.1) return [];
  if (whim < 0.2) return [{ head, delayMs: random.number() * LATE_MS_MAX }];
  if (whim < 0.3) return [soonMs, soonMs + random.number() * 50].map((delayMs) => ({ head, delayMs }));
  if (whim < 0.34) return [{ head: { ...head, hash: digestOf(hash, "no block") }, delayMs: soonMs }];
  // A block that is there, told as if it followed on this one.
  if (whim < 0.38)
    return [{ head: { ...head, number: number + 1n, hash: parentHash, parentHash: hash }, delayMs: soonMs }];
  return [{ head, delayMs: soonMs }];
}
