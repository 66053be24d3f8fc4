import { findChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed, type BlockRef, type ChainDriver } from "../../chain/driver.ts";
import type { ChainConfig } from "../../config.ts";
import { NEAR_BLOCKS } from "../../watch/branch.ts";
import { isScannerHealthy } from "../../watch/health.ts";
import type { Opinion } from "../../watch/opinions.ts";
import { listCursors, type CursorRow } from "../../watch/store.ts";
import { findBeginning } from "../../watch/tellProgress.ts";
import type { World } from "../../world.ts";

export type ShownProvider = {
  name: string;
  /** Null when it does not answer; `trouble` says why then. */
  headBlock: string | null;
  trouble: string | null;
  /**
   * How it stands to what is recorded: it has the same block there, another one, or ends far below it. Null where it cannot be told. One that
   * does not agree holds up what websockets tell of, as long as it moves.
   */
  opinion: Opinion["kind"] | null;
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
  /** Where the catch-up began, where the process that was asked is the one that makes it. */
  begunBlock: string | null;
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
  const said = await Promise.all(chain.drivers.map((driver) => askHead(driver, cursor)));
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
    begunBlock: shown(findBeginning(chain)),
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

type Said = { name: string; head: BlockRef; opinion: ShownProvider["opinion"] } | { name: string; message: string };

/** Asks one provider past everything that keeps account of how they do: who looks must not make one rest, nor fill the log. */
async function askHead(driver: ChainDriver, cursor: CursorRow | undefined): Promise<Said> {
  const { name } = driver;
  try {
    const head = await driver.head("latest");
    return { name, head, opinion: cursor === undefined ? null : await opinionOf(driver, cursor, head) };
  } catch (error) {
    if (error instanceof ProviderFailed) return { name, message: error.message };
    throw error;
  }
}

async function opinionOf(driver: ChainDriver, cursor: CursorRow, head: BlockRef): Promise<ShownProvider["opinion"]> {
  if (head.number < cursor.number) return head.number + NEAR_BLOCKS < cursor.number ? "behind" : null;
  const block = head.number === cursor.number ? head : await driver.block({ number: cursor.number });
  if (block === undefined) return null;
  return block.hash === cursor.hash ? "agrees" : "differs";
}

function shownProvider(said: Said): ShownProvider {
  const { name } = said;
  if ("head" in said) return { name, headBlock: String(said.head.number), trouble: null, opinion: said.opinion };
  // Drivers begin with the name, which stands beside it.
  const words = said.message.startsWith(`${name} `) ? said.message.slice(name.length + 1) : said.message;
  const trouble = words.length > TROUBLE_MAX ? `${words.slice(0, TROUBLE_MAX)}…` : words;
  return { name, headBlock: null, trouble, opinion: null };
}

/** Below zero stands what was never said. */
function shown(number: bigint | undefined): string | null {
  return number === undefined || number < 0n ? null : String(number);
}
