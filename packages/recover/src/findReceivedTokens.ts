import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils";
import type { Hex } from "@tributary/inbox/terms";
import { encodeAddress } from "./abi.ts";
import type { LogSearch } from "./rpc/searchLogs.ts";

export type ReceivedTokens = {
  /** By inbox, oldest first. */
  readonly tokens: ReadonlyMap<Hex, ReadonlySet<Hex>>;
  /** Tokens of inboxes beyond the limit, which nobody looked at. */
  readonly skipped: number;
  readonly isComplete: boolean;
};

export const TRANSFER_TOPIC = `0x${bytesToHex(keccak_256(utf8ToBytes("Transfer(address,address,uint256)")))}`;
/** Geth and its relatives accept a thousand topics in one position; all chains accept half of that. */
export const TOPICS_MAX = 500;
/**
 * Anybody can write transfers of worthless contracts into the logs of an inbox. So many are looked at on one chain, and
 * the rest are counted.
 */
const PAIRS_MAX = 50_000;

/** Finds the tokens that were ever sent to each inbox, from the tokens' Transfer events. */
export async function findReceivedTokens(search: LogSearch, inboxes: readonly Hex[]): Promise<ReceivedTokens> {
  const tokens = new Map<Hex, Set<Hex>>();
  let pairs = 0;
  let skipped = 0;
  for (let start = 0; start < inboxes.length; start += TOPICS_MAX) {
    const receivers = inboxes.slice(start, start + TOPICS_MAX).map((address) => `0x${encodeAddress(address)}`);
    const found = await search({ topics: [TRANSFER_TOPIC, null, receivers] });
    for (const log of found.logs) {
      const transfer = parseTransfer(log);
      if (transfer === undefined) continue;
      const ofInbox = tokens.get(transfer.receiver) ?? new Set();
      tokens.set(transfer.receiver, ofInbox);
      if (ofInbox.has(transfer.token)) continue;
      if (pairs >= PAIRS_MAX) skipped += 1;
      else {
        pairs += 1;
        ofInbox.add(transfer.token);
      }
    }
    if (!found.isComplete) return { tokens, skipped, isComplete: false };
  }
  return { tokens, skipped, isComplete: true };
}

const ADDRESS = /^0x[0-9a-f]{40}$/;

function parseTransfer(log: unknown): { token: Hex; receiver: Hex } | undefined {
  const { address, topics } = (log ?? {}) as { address?: unknown; topics?: unknown };
  const receiver: unknown = Array.isArray(topics) ? topics[2] : undefined;
  if (typeof address !== "string" || typeof receiver !== "string") return undefined;
  const token = address.toLowerCase();
  return ADDRESS.test(token)
    ? { token: `0x${token.slice(2)}`, receiver: `0x${receiver.slice(-40).toLowerCase()}` }
    : undefined;
}
