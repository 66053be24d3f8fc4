import { matchBurns, type TrackedBurn } from "@tributary/recover/bridge/matchBurns";
import type { FoundBurn } from "@tributary/recover/bridge/searchBurns";
import { findPaidInbox, readArrivals } from "@tributary/recover/bridge/trackBurns";
import { formatUnits } from "@tributary/recover/format";
import type { ChainInspection } from "@tributary/recover/inspectChain";
import type { VerifiedInbox } from "@tributary/recover/parseInboxes";
import { withChainError } from "../../operator/client/withChainError.ts";
import { formatChain } from "./recoverTransaction.ts";
import type { ChainAccess, RunOptions } from "./recoverOptions.ts";

// What was burned for a payout's chain and has not arrived there. Anyone may have sent the burn, also a service that
// vanished afterwards.

export type TrackedChain = { readonly inspection: ChainInspection; readonly url: string };

type Tracking = {
  inboxes: readonly VerifiedInbox[];
  /** Burns on other kinds of chains. */
  burns: readonly FoundBurn[];
  options: RunOptions;
  withRpc: ChainAccess["withRpc"];
};

const USDC_DECIMALS = 6;
const SHOWN_MAX = 100;

/** Compares all burns with what arrived on the payouts' chains that `--rpc` leads to. */
export async function trackAll(
  chains: readonly TrackedChain[],
  { inboxes, burns: earlier, options, withRpc }: Tracking,
): Promise<TrackedBurn[]> {
  const burns = [...earlier, ...chains.flatMap(({ inspection }) => inspection.burned.burns)];
  const bySettleChain = Map.groupBy(burns, (burn) => findPaidInbox(burn, inboxes)?.terms.settleChainId);
  const tracked: TrackedBurn[] = [];
  for (const [chainId, group] of bySettleChain) {
    const url = chains.find(({ inspection }) => inspection.chainId === chainId)?.url;
    if (url === undefined || chainId === undefined) {
      tracked.push(...matchBurns(group, undefined));
      continue;
    }
    const { fromBlock, bridges } = options;
    const arrivals = await withRpc(url, (request, host) =>
      withChainError(
        readArrivals(request, { burns: group, inboxes }, { chainId, fromBlock, bridges }),
        `${host} does not answer`,
      ),
    );
    tracked.push(...matchBurns(group, arrivals));
  }
  return tracked;
}

type Shown = {
  inboxes: readonly VerifiedInbox[];
  results: readonly TrackedChain[];
  file: string;
  /** Nothing is sent in this run. */
  isLooking: boolean;
};

/** Names what was burned and is not known to have arrived, and the command that receives it. */
export function formatTracked(tracked: readonly TrackedBurn[], shown: Shown): string[] {
  const waiting = tracked.filter(({ state }) => state !== "received");
  const byChain = Map.groupBy(waiting, (burn) => findPaidInbox(burn, shown.inboxes)?.terms.settleChainId);
  return [
    ...[...byChain].flatMap(([chainId, burns]) => formatWaiting(burns, chainId, shown)),
    ...(shown.isLooking ? formatUnsearched(shown) : []),
  ];
}

function formatWaiting(
  burns: readonly TrackedBurn[],
  chainId: bigint | undefined,
  { results, file, inboxes }: Shown,
): string[] {
  if (chainId === undefined)
    return [
      "",
      "Burned for a payout on Solana. Receive it there, if nobody has:",
      `  tributary recover ${file} --rpc <URL of its cluster> --receive ${listTransactions(burns)} --key-file <file>`,
    ];
  const isRead = results.some(({ inspection }) => inspection.chainId === chainId);
  const unknown = isRead
    ? "its provider does not show whether all of it arrived"
    : "add its URL to --rpc to see whether it arrived";
  const open = burns.some(({ state }) => state === "open");
  return [
    "",
    `Burned for ${formatChain(chainId)}, ${open ? "not received there" : unknown}:`,
    ...burns.slice(0, SHOWN_MAX).map(({ units, txHash, chain, ...burn }) => {
      const inbox = findPaidInbox(burn, inboxes);
      const where = chain === "Solana" ? chain : formatChain(BigInt(chain));
      const name = inbox?.intentId ?? inbox?.address ?? burn.recipient;
      return `  ${formatUnits(units, USDC_DECIMALS)} USDC for ${name}, on ${where} by ${txHash}`;
    }),
    ...(burns.length > SHOWN_MAX ? [`  and ${burns.length - SHOWN_MAX} more`] : []),
    "Receive it there:",
    `  tributary recover ${file} --rpc <URL of chain ${chainId}> --receive ${listTransactions(burns)} --key-file <file>`,
  ];
}

function listTransactions(burns: readonly TrackedBurn[]): string {
  return [...new Set(burns.map(({ txHash }) => txHash))].slice(0, SHOWN_MAX).join(",");
}

/** Burns show on the chains where they happened, and only there. */
function formatUnsearched({ inboxes, results }: Shown): string[] {
  const read = new Set(results.map(({ inspection }) => inspection.chainId));
  const origins = new Set(inboxes.flatMap(({ routes = [] }) => routes.map((route) => route.chainId)));
  const missing = [...origins].filter((chainId) => !read.has(chainId));
  const refused = results.filter(({ inspection }) => !inspection.burned.isComplete);
  return [
    ...(missing.length === 0
      ? []
      : [
          "",
          `These inboxes can be paid on other chains too: add the URLs of ${missing.map(formatChain).join(", ")} to --rpc to see deposits and burns there.`,
        ]),
    ...refused.map(
      ({ inspection }) =>
        `The provider of ${formatChain(inspection.chainId)} refuses to search all blocks for burns: name another one, or start at --from-block.`,
    ),
  ];
}
