import type { CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { parseQuantity } from "../abi.ts";
import type { RpcRequester } from "../rpc/rpcRequester.ts";
import type { VerifiedInbox } from "../parseInboxes.ts";
import { openLogSearch } from "../rpc/searchLogs.ts";
import { toMessageAccount } from "@tributary/inbox/burnMessage";
import { findBridgeChain } from "./planBridge.ts";
import { searchArrivals, type Arrivals } from "./searchArrivals.ts";
import type { FoundBurn } from "./searchBurns.ts";

/** The inbox that a burn pays, among those of the input; undefined for a payout on Solana. */
export function findPaidInbox(
  { recipient }: Pick<FoundBurn, "recipient">,
  inboxes: readonly VerifiedInbox[],
): VerifiedInbox | undefined {
  return inboxes.find(({ address }) => toMessageAccount(address) === recipient);
}

export type TrackingOptions = {
  readonly chainId: bigint;
  readonly fromBlock: bigint;
  readonly bridges: readonly CctpV2Chain[];
};

/** Reads what the burns brought to the inboxes of one chain; undefined where Circle's contracts there are unknown. */
export async function readArrivals(
  request: RpcRequester,
  { burns, inboxes }: { burns: readonly FoundBurn[]; inboxes: readonly VerifiedInbox[] },
  { chainId, fromBlock, bridges }: TrackingOptions,
): Promise<Arrivals | undefined> {
  const chain = findBridgeChain(chainId, bridges);
  const paid = burns.flatMap((burn) => findPaidInbox(burn, inboxes) ?? []);
  if (chain === undefined || paid.length === 0) return undefined;
  const block = (await request("eth_getBlockByNumber", ["latest", false])) as { number?: unknown } | null;
  const search = openLogSearch(request, { fromBlock, head: parseQuantity(block?.number, "its newest block") });
  const { transmitter } = chain;
  const found: Arrivals[] = [];
  for (const [token, group] of Map.groupBy(paid, ({ terms }) => terms.settleToken)) {
    const recipients = [...new Set(group.map(({ address }) => toMessageAccount(address)))];
    found.push(await searchArrivals({ request, search, transmitter }, { token, recipients }));
  }
  return {
    arrivals: found.flatMap(({ arrivals }) => arrivals),
    isComplete: found.every(({ isComplete }) => isComplete),
  };
}
