import type { Chain } from "../../chain/chain.ts";
import type { ChainReader, Transfer } from "../../chain/reader.ts";
import { findInboxesIn, locateTransfers, matchInboxesInDatabase } from "../inboxes/locateTransfers.ts";
import {
  distinctChainTxs,
  filterInboxTransfers,
  movementPlace,
  type InboxTransfer,
  type MovementRow,
} from "../movement.ts";
import { recordMovements } from "../record/recordMovements.ts";
import { listLiveMovements } from "../store/chainReads.ts";
import type { WatchWorld } from "../watchWorld.ts";
import { isRangeTooLarge } from "./rangeSize.ts";

// Every search for what another reading may have left out. Its schedule decides where and when to look; what counts as
// found is decided here.

/** Below every block: a requested search may also correct final movements. */
export const NO_BLOCK = -1n;

/**
 * How many providers must show a movement. A movement out makes a settlement look landed, so where a single provider
 * adds to another's answer, `out` is undefined and none is recorded.
 */
export type RequiredReports = { in: number; out: number | undefined };

/** For a single provider that adds to another's answer. A deposit counts only when others confirm it. */
export const ONLY_ARRIVALS: RequiredReports = { in: 1, out: undefined };

/** As many as two providers, where there are two. */
export function twoProviders({ providers }: Pick<Chain, "providers">): number {
  return Math.min(2, providers.providerCount);
}

export type TransferSearch = {
  read: (reader: ChainReader) => Promise<readonly Transfer[]>;
  /** Which providers read: the first or the last that answers, some of them by their names, or each. */
  from: "first" | "last" | "each" | { named: readonly string[] };
  required: RequiredReports;
  /** The searched inboxes, where `read` asks for some only. What they pay each other needs the reports of what leaves. */
  parties?: readonly string[];
  /** Whether places that hold a recorded movement are left out. */
  skipsRecorded?: boolean;
  /** Leaves out others, for a reason of the schedule's own. */
  select?: (found: readonly InboxTransfer[]) => Promise<readonly InboxTransfer[]>;
};

export type SearchResult = {
  recorded: readonly MovementRow[];
  /** Transfers that were read, of inboxes or not. */
  readCount: number;
  /** The providers that left out what was found. */
  omitting: readonly string[];
  /** How many providers showed nothing of an inbox that too few others show. */
  agreeing: number;
};

/**
 * Reads transfers and records what is missing. Throws ProviderFailed when no provider answers, and `range_too_large`
 * when one refuses the range.
 */
export async function searchTransfers(world: WatchWorld, chain: Chain, search: TransferSearch): Promise<SearchResult> {
  const answers = await readAnswers(chain, search);
  const transfers = answers.flatMap((each) => each.transfers);
  const inboxes = await findInboxesIn(world, chain, transfers);
  const reports = Map.groupBy(
    answers.flatMap(({ provider, transfers: shown }) =>
      filterInboxTransfers(shown, (address) => inboxes.has(address)).map((candidate) => ({ provider, candidate })),
    ),
    ({ candidate }) => contentOf(candidate),
  );
  const providersOf = (candidate: InboxTransfer) =>
    new Set(reports.get(contentOf(candidate))?.map(({ provider }) => provider));
  const shown = [...reports.values()].flatMap(([report]) => report?.candidate ?? []);
  const enough = shown.filter((candidate) => isEnough(search, candidate, providersOf(candidate).size));
  const missing = search.skipsRecorded === true ? await withoutRecorded(world, chain, enough) : enough;
  const found = search.select ? await search.select(missing) : missing;
  const recorded = await recordCandidates(world, chain, { found });
  const providers = answers.map(({ provider }) => provider);
  const omitting = providers.filter((provider) => found.some((candidate) => !providersOf(candidate).has(provider)));
  const doubted = new Set(shown.filter((each) => !enough.includes(each)).flatMap((each) => [...providersOf(each)]));
  const agreeing = providers.filter((provider) => !doubted.has(provider)).length;
  return { recorded, readCount: transfers.length, omitting, agreeing };
}

type Answer = { provider: string; transfers: readonly Transfer[] };

async function readAnswers({ providers }: Chain, { read, from }: TransferSearch): Promise<Answer[]> {
  const readOne = async (reader: ChainReader): Promise<Answer> => ({
    provider: reader.name,
    transfers: await read(reader),
  });
  if (from === "first") return [await providers.run(readOne)];
  if (from === "last") return [await providers.runLastFirst(readOne)];
  if (from !== "each") return readNamed(from.named, (provider) => providers.runWith(provider, readOne));
  const replies = await providers.runAll(readOne, "available");
  const answers = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
  const errors = replies.flatMap((each) => ("error" in each ? [each.error] : []));
  const failure = errors.find(isRangeTooLarge) ?? errors[0];
  if (failure && (answers.length === 0 || isRangeTooLarge(failure))) throw failure;
  return answers;
}

/** The answers of those that answer; throws where none does. */
async function readNamed(named: readonly string[], readWith: (provider: string) => Promise<Answer>): Promise<Answer[]> {
  const replies = await Promise.allSettled(named.map(readWith));
  const answers = replies.flatMap((reply) => (reply.status === "fulfilled" ? [reply.value] : []));
  const failure = replies.find((reply) => reply.status === "rejected");
  if (answers.length === 0 && failure !== undefined) throw failure.reason;
  return answers;
}

/** A provider that shows another amount or sender reports another movement. */
function contentOf(candidate: InboxTransfer): string {
  return `${movementPlace(candidate)}/${candidate.counterparty}/${candidate.amountUnits}`;
}

function isEnough({ required, parties = [] }: TransferSearch, candidate: InboxTransfer, reports: number): boolean {
  const isLeaving = candidate.direction === "out" || parties.includes(candidate.counterparty);
  const needed = isLeaving ? required.out : required.in;
  return needed !== undefined && reports >= needed;
}

async function withoutRecorded(
  { db }: WatchWorld,
  { caip2: chain }: Chain,
  candidates: readonly InboxTransfer[],
): Promise<InboxTransfer[]> {
  const inboxes = [...new Set(candidates.map(({ inbox }) => inbox))];
  const recorded = await listLiveMovements(db, { chain, chainTxs: distinctChainTxs(candidates), inboxes });
  const places = new Set(recorded.map((row) => movementPlace({ ...row, blockHash: row.block_hash })));
  return candidates.filter((candidate) => !places.has(movementPlace(candidate)));
}

/** Records transfers that were read before. `isOnlyIncoming`: see ONLY_ARRIVALS. */
export async function recordFound(
  world: WatchWorld,
  chain: Chain,
  {
    transfers,
    isOnlyIncoming = false,
    immutableUpTo,
  }: { transfers: readonly Transfer[]; isOnlyIncoming?: boolean; immutableUpTo?: bigint },
): Promise<readonly MovementRow[]> {
  const candidates = await matchInboxesInDatabase(world, chain, transfers);
  const found = candidates.filter(({ direction }) => direction === "in" || !isOnlyIncoming);
  return recordCandidates(world, chain, { found, immutableUpTo });
}

async function recordCandidates(
  world: WatchWorld,
  chain: Chain,
  { found, immutableUpTo }: { found: readonly InboxTransfer[]; immutableUpTo?: bigint | undefined },
): Promise<readonly MovementRow[]> {
  const located = await locateTransfers(world, chain, found);
  if (located.length === 0) return [];
  return (await recordMovements(world, chain, { kind: "found", located, immutableUpTo }))?.rows ?? [];
}
