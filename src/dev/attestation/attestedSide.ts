import { concat, keccak256, numberToHex, pad, parseAbiItem, parseEventLogs, type Hex } from "viem";
import type { BridgeSide } from "../chains/bridge.ts";

/** A message that a chain has sent, as the burn left it. */
export type SentMessage = {
  readonly message: Hex;
  /** The number that the service gives it. */
  readonly nonce: Hex;
  /** When its block was made, in milliseconds of the chain's time. */
  readonly at: number;
  readonly isFinal: boolean;
};

/** A chain whose messages the service signs. */
export type AttestedSide = {
  /** Circle's number of the chain. */
  readonly domain: number;
  /** The messages of a transaction, in order; empty for one that the chain does not know, or that failed. */
  readSent(chainTx: string): Promise<SentMessage[]>;
  /** What a message's expiration is counted in: the newest block, or slot. */
  head(): Promise<bigint>;
};

const MESSAGE_SENT = parseAbiItem("event MessageSent(bytes message)");
const SECOND_MS = 1_000;

export function evmSide({ client, bridge }: BridgeSide): AttestedSide {
  const nonceOf = (chainTx: Hex, logIndex: number) =>
    keccak256(concat([numberToHex(bridge.domain, { size: 4 }), chainTx, pad(numberToHex(logIndex))]));
  return {
    domain: bridge.domain,
    head: () => client.getBlockNumber({ cacheTime: 0 }),
    readSent: async (chainTx) => {
      const hash = chainTx as Hex;
      const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined);
      if (receipt === undefined || receipt.status === "reverted") return [];
      const [block, final] = await Promise.all([
        client.getBlock({ blockNumber: receipt.blockNumber }),
        client.getBlock({ blockTag: "finalized" }),
      ]);
      return parseEventLogs({ abi: [MESSAGE_SENT], logs: receipt.logs })
        .filter(({ address }) => address.toLowerCase() === bridge.transmitter)
        .map(({ args: { message }, logIndex }) => ({
          message,
          nonce: nonceOf(hash, logIndex),
          at: Number(block.timestamp) * SECOND_MS,
          isFinal: receipt.blockNumber <= final.number,
        }));
    },
  };
}
