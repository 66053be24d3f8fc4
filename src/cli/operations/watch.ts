import { findChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainDriver } from "../../chain/driver.ts";
import type { ChainConfig } from "../../config.ts";
import { isScannerHealthy } from "../../watch/health.ts";
import { listCursors, type CursorRow } from "../../watch/store.ts";
import type { World } from "../../world.ts";

export type ShownProvider = {
  name: string;
  /** Null when it does not answer; `trouble` says why then. */
  headBlock: string | null;
  trouble: string | null;
};

/** Characters of a provider's trouble; refusals can quote whole pages. */
const TROUBLE_MAX = 120;

/** How far one chain is read. Blocks are numbers as texts, times are ISO 8601; null is what nobody knows. */
export type ShownWatch = {
  chain: string;
  chainName: string;
  /** Whether any process looks at it. */
  isWatched: boolean;
  /** When it was last looked at, or moved. */
  lookedAt: string | null;
  /** When this was asked; the pace is what lies between two of them. */
  askedAt: string;
  recordedBlock: string | null;
  /** The highest block that a provider tells of. */
  headBlock: string | null;
  behindBlocks: string | null;
  /** What lies between the two by the blocks' own times, in milliseconds. */
  behindMs: number | null;
  safeBlock: string | null;
  finalBlock: string | null;
  /** Up to here blocks were read a second time after they had become final. */
  rereadBlock: string | null;
  /** Up to here movements stand in the ledger. */
  bookedBlock: string | null;
  providers: ShownProvider[];
};

/** How far every configured chain is read, by the database, and how far it is, by each of its providers. */
export async function watchStatus(world: World): Promise<ShownWatch[]> {
  const cursors = new Map((await listCursors(world.db)).map((cursor) => [cursor.chain, cursor]));
  return Promise.all(
    [...world.chains.values()].flatMap((chain) => {
      const config = findChain(world.catalog, chain.caip2);
      return config === undefined ? [] : [statusOf(world, { chain, config, cursor: cursors.get(chain.caip2) })];
    }),
  );
}

type Asked = { chain: Chain; config: ChainConfig; cursor: CursorRow | undefined };

async function statusOf(world: World, { chain, config, cursor }: Asked): Promise<ShownWatch> {
  const said = await Promise.all(chain.drivers.map(askHead));
  const now = world.clock.now();
  const head = said
    .flatMap((each) => ("head" in each ? [each.head] : []))
    .reduce<BlockRef | undefined>((most, each) => (most && most.number >= each.number ? most : each), undefined);
  const behind = cursor && head ? head.number - cursor.number : undefined;
  return {
    chain: chain.caip2,
    chainName: config.name,
    isWatched: isScannerHealthy(cursor?.updated_at, { now, pollMs: config.pollMs }),
    lookedAt: cursor?.updated_at.toISOString() ?? null,
    askedAt: now.toISOString(),
    recordedBlock: shown(cursor?.number),
    headBlock: shown(head?.number),
    behindBlocks: shown(behind !== undefined && behind < 0n ? 0n : behind),
    behindMs: cursor && head ? await timeBetween(chain, cursor, head) : null,
    safeBlock: shown(cursor?.safe_number),
    finalBlock: shown(cursor?.finalized_number),
    rereadBlock: shown(cursor?.reread_number),
    bookedBlock: shown(cursor?.booked_number),
    providers: said.map(shownProvider),
  };
}

async function timeBetween(chain: Chain, cursor: CursorRow, head: BlockRef): Promise<number | null> {
  if (head.number <= cursor.number) return 0;
  try {
    const recorded = await chain.providers.block({ number: cursor.number });
    return recorded === undefined ? null : Math.max(0, head.timestampS - recorded.timestampS) * 1_000;
  } catch (error) {
    if (error instanceof ProviderFailed) return null;
    throw error;
  }
}

type Said = { name: string; head: BlockRef } | { name: string; message: string };

/** Asks one provider past everything that keeps account of how they do: who looks must not make one rest, nor fill the log. */
async function askHead(driver: ChainDriver): Promise<Said> {
  const { name } = driver;
  try {
    return { name, head: await driver.head("latest") };
  } catch (error) {
    if (error instanceof ProviderFailed) return { name, message: error.message };
    throw error;
  }
}

function shownProvider(said: Said): ShownProvider {
  const { name } = said;
  if ("head" in said) return { name, headBlock: String(said.head.number), trouble: null };
  // Drivers begin with the name, which stands beside it.
  const words = said.message.startsWith(`${name} `) ? said.message.slice(name.length + 1) : said.message;
  return { name, headBlock: null, trouble: words.length > TROUBLE_MAX ? `${words.slice(0, TROUBLE_MAX)}…` : words };
}

/** Below zero stands what was never said. */
function shown(number: bigint | undefined): string | null {
  return number === undefined || number < 0n ? null : String(number);
}
