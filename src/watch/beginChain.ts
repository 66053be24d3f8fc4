import type { Chain } from "../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainDriver } from "../chain/driver.ts";
import type { WatchWorld } from "./record.ts";
import { insertCursor } from "./store.ts";

/** Headers kept from before the beginning: a reorganisation soon after it may reach below, and has to meet a block that we know. */
const EARLIER_BLOCKS = 64n;

/** Begins a chain that is new here at its present head. Nothing happens when somebody else began it. */
export async function beginChain(world: WatchWorld, chain: Chain, genesisHash: string): Promise<void> {
  const { head, earlier } = await chain.providers.ask(readLatest);
  const at = world.clock.now();
  await world.db.transaction((tx) => insertCursor(tx, { chain: chain.caip2, genesisHash, head, earlier, at }));
}

async function readLatest(driver: ChainDriver): Promise<{ head: BlockRef; earlier: BlockRef[] }> {
  const head = await driver.head("latest");
  const numbers: bigint[] = [];
  for (let back = 1n; back <= EARLIER_BLOCKS && back <= head.number; back += 1n) numbers.push(head.number - back);
  const earlier: BlockRef[] = [];
  let child = head;
  for (const block of await Promise.all(numbers.map((number) => driver.block({ number })))) {
    if (block?.hash !== child.parentHash)
      throw new ProviderFailed("unknown_block", `${driver.name} shows no parent of block ${child.number}`);
    earlier.push(block);
    child = block;
  }
  return { head, earlier };
}
