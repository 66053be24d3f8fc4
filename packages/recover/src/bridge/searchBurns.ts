import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils";
import { decodeCctpV2Config } from "@tributary/inbox/cctpV2";
import type { CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { zeroBytes32, type Hex } from "@tributary/inbox/terms";
import { encodeAddress } from "../abi.ts";
import { TOPICS_MAX } from "../findReceivedTokens.ts";
import type { VerifiedInbox } from "../parseInboxes.ts";
import type { LogSearch } from "../rpc/searchLogs.ts";
import { toMessageAccount } from "@tributary/inbox/burnMessage";
import { findBridgeChain } from "./planBridge.ts";

// What inboxes burned on a chain, for their payout's chain. Anyone can send that transaction, so the logs of Circle's
// messenger are searched for the inboxes as depositors.

/** One burn of an inbox. */
export type FoundBurn = {
  /** The transaction: a hash, or a signature on Solana. */
  readonly txHash: string;
  /** Where it was burned, as a person names it: an EIP-155 id, or "Solana". */
  readonly chain: string;
  /** Circle's number of that chain; undefined where it is unknown. */
  readonly sourceDomain: number | undefined;
  /** Who burned, and who gets the money on the payout's chain: 32 bytes in lower-case hex. */
  readonly depositor: string;
  readonly recipient: string;
  /** Circle's number of the payout's chain. */
  readonly settleDomain: number;
  readonly units: bigint;
};

export type FoundBurns = {
  readonly burns: readonly FoundBurn[];
  /** False where the node refused to search all blocks. */
  readonly isComplete: boolean;
};

const BURN_TOPIC = `0x${bytesToHex(
  keccak_256(
    utf8ToBytes("DepositForBurn(address,uint256,address,bytes32,uint32,bytes32,bytes32,uint256,uint32,bytes)"),
  ),
)}`;
/** Words of the event's data. */
const DATA = { amount: 0, recipient: 1, domain: 2 } as const;

/** Finds the burns of inboxes with routes from this chain. */
export async function searchBurns(
  search: LogSearch,
  inboxes: readonly VerifiedInbox[],
  { chainId, bridges }: { chainId: bigint; bridges: readonly CctpV2Chain[] },
): Promise<FoundBurns> {
  const burners = inboxes.filter(({ terms }) => terms.settleChainId !== chainId && terms.routesRoot !== zeroBytes32);
  const sourceDomain = findBridgeChain(chainId, bridges)?.domain;
  const burns: FoundBurn[] = [];
  for (const messenger of listMessengers(burners, chainId, bridges))
    for (let start = 0; start < burners.length; start += TOPICS_MAX) {
      const part = burners.slice(start, start + TOPICS_MAX);
      const depositors = part.map(({ address }) => `0x${encodeAddress(address)}`);
      const found = await search({ address: messenger, topics: [BURN_TOPIC, null, depositors] });
      burns.push(
        ...found.logs
          .flatMap((log) => parseBurn(log, messenger))
          .map((burn) => ({ ...burn, chain: String(chainId), sourceDomain })),
      );
      if (!found.isComplete) return { burns, isComplete: false };
    }
  return { burns, isComplete: true };
}

/** The messengers that the routes pin here, and the chain's own for inboxes whose routes are not listed. */
function listMessengers(inboxes: readonly VerifiedInbox[], chainId: bigint, bridges: readonly CctpV2Chain[]): Hex[] {
  if (inboxes.length === 0) return [];
  const pinned = inboxes.flatMap(({ routes = [] }) =>
    routes.filter((route) => route.chainId === chainId).flatMap(({ config }) => readMessenger(config)),
  );
  const own = findBridgeChain(chainId, bridges)?.messenger;
  return [...new Set([...pinned, ...(own === undefined ? [] : [own])])];
}

function readMessenger(config: Hex): Hex[] {
  try {
    return [decodeCctpV2Config(config).messenger];
  } catch {
    return [];
  }
}

function parseBurn(log: unknown, messenger: Hex): Omit<FoundBurn, "chain" | "sourceDomain">[] {
  const { address, topics, data, transactionHash } = (log ?? {}) as Record<string, unknown>;
  const depositor: unknown = Array.isArray(topics) ? topics[2] : undefined;
  if (typeof data !== "string" || typeof depositor !== "string" || typeof transactionHash !== "string") return [];
  if (String(address).toLowerCase() !== messenger || !/^0x[0-9a-f]{64}$/i.test(transactionHash)) return [];
  const word = (index: number) => data.slice(2 + index * 64, 66 + index * 64).toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(word(DATA.domain))) return [];
  return [
    {
      txHash: transactionHash.toLowerCase(),
      depositor: toMessageAccount(depositor),
      recipient: `0x${word(DATA.recipient)}`,
      settleDomain: Number(BigInt(`0x${word(DATA.domain)}`)),
      units: BigInt(`0x${word(DATA.amount)}`),
    },
  ];
}
