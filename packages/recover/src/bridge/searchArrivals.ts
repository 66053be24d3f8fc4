import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils";
import { zeroBytes32, type Hex } from "@tributary/inbox/terms";
import { TOPICS_MAX, TRANSFER_TOPIC } from "../findReceivedTokens.ts";
import type { RpcRequester } from "../rpc/rpcRequester.ts";
import type { LogSearch } from "../rpc/searchLogs.ts";
import { parseBurnBody } from "@tributary/inbox/burnMessage";
import type { FoundBurn } from "./searchBurns.ts";

// What Circle's bridge brought to inboxes on the payout's chain. The token's own logs name the transactions, and each
// receipt says whose burn it was: a payer may use the bridge too, for any amount.

export type Arrival = Pick<FoundBurn, "depositor" | "recipient" | "units"> & { readonly sourceDomain: number };

export type Arrivals = {
  readonly arrivals: readonly Arrival[];
  /** False where the node refused a search, or where there are too many transactions to read. */
  readonly isComplete: boolean;
};

export type ArrivalSearch = {
  readonly request: RpcRequester;
  readonly search: LogSearch;
  /** Circle's MessageTransmitterV2 on the chain. */
  readonly transmitter: Hex;
};

const RECEIPT_TOPIC = `0x${bytesToHex(
  keccak_256(utf8ToBytes("MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)")),
)}`;
const RECEIPTS_MAX = 200;
const WORD = 64;
/** The words of the event before the bytes of the body. */
const BODY_START = 4;

/** Finds the arrivals in inboxes of one payout token. `recipients`: their addresses as 32 bytes. */
export async function searchArrivals(
  { request, search, transmitter }: ArrivalSearch,
  { token, recipients }: { token: Hex; recipients: readonly string[] },
): Promise<Arrivals> {
  const transactions = new Set<string>();
  let isComplete = true;
  for (let start = 0; start < recipients.length && isComplete; start += TOPICS_MAX) {
    const topics = [TRANSFER_TOPIC, zeroBytes32, recipients.slice(start, start + TOPICS_MAX)];
    const found = await search({ address: token, topics });
    for (const log of found.logs) transactions.add(String((log as { transactionHash?: unknown }).transactionHash));
    isComplete = found.isComplete;
  }
  const read = [...transactions].slice(0, RECEIPTS_MAX);
  const receipts = await Promise.all(read.map((hash) => request("eth_getTransactionReceipt", [hash])));
  return {
    arrivals: receipts.flatMap((receipt) => parseArrivals(receipt, transmitter)),
    isComplete: isComplete && read.length === transactions.size && !receipts.includes(null),
  };
}

function parseArrivals(receipt: unknown, transmitter: Hex): Arrival[] {
  const { logs } = (receipt ?? {}) as { logs?: unknown };
  return (Array.isArray(logs) ? (logs as unknown[]) : []).flatMap((log) => {
    const { address, topics, data } = (log ?? {}) as Record<string, unknown>;
    const isReceipt = Array.isArray(topics) && topics[0] === RECEIPT_TOPIC;
    if (!isReceipt || String(address).toLowerCase() !== transmitter || typeof data !== "string") return [];
    const digits = data.slice(2).toLowerCase();
    const burn = parseBurnBody(digits.slice(BODY_START * WORD));
    const domain = Number(`0x${digits.slice(0, WORD)}`);
    return burn === undefined
      ? []
      : [{ depositor: burn.sender, recipient: burn.recipient, units: burn.units, sourceDomain: domain }];
  });
}
