import { solanaCctpDomain } from "@tributary/inbox/cctpV2Chains";
import { decodeBase58 } from "@tributary/inbox/solana/base58";
import { cctpTransmitter } from "@tributary/inbox/solana/cctp";
import { bytesToHex, concat, keccak256, numberToHex, pad, stringToHex } from "viem";
import type { AttestedSide, SentMessage } from "./attestedSide.ts";

// Solana keeps a message in an account that the burn created. Its payer may close that account, so a message that was
// seen once is kept here.

/** The first bytes of the transmitter's instruction `send_message`, and the place of the event account in it. */
const SEND_MESSAGE = "392822b2bd0a411a";
const EVENT_ACCOUNT = 3;
/** In the event account: how long the message is, and where it begins. */
const LENGTH = 48;
const MESSAGE = 52;
const SECOND_MS = 1_000;

type Instruction = { programIdIndex: number; accounts: number[]; data: string };
type Found = {
  slot: number;
  blockTime: number | null;
  transaction: { message: { accountKeys: string[]; instructions: Instruction[] } };
  meta: {
    err: unknown;
    innerInstructions: { instructions: Instruction[] }[] | null;
    loadedAddresses?: { writable: string[]; readonly: string[] };
  };
};

/** The side of Solana, read over JSON-RPC. */
export function solanaSide(url: string): AttestedSide {
  const kept = new Map<string, Buffer>();
  const request = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(url, { method: "POST", body, headers: { "content-type": "application/json" } });
    return ((await response.json()) as { result?: unknown }).result;
  };
  const readEvent = async (event: string): Promise<Buffer | undefined> => {
    const answer = await request("getAccountInfo", [event, { encoding: "base64", commitment: "confirmed" }]);
    const account = (answer as { value: { owner: string; data: [string, string] } | null } | undefined)?.value;
    const data = account?.owner === cctpTransmitter ? Buffer.from(account.data[0], "base64") : undefined;
    if (data !== undefined) kept.set(event, data.subarray(MESSAGE, MESSAGE + data.readUInt32LE(LENGTH)));
    return kept.get(event);
  };
  const head = async (commitment: "confirmed" | "finalized") =>
    BigInt((await request("getSlot", [{ commitment }])) as number);
  return {
    domain: solanaCctpDomain,
    head: () => head("confirmed"),
    readSent: async (chainTx) => {
      const options = { encoding: "json", commitment: "confirmed", maxSupportedTransactionVersion: 1 };
      const found = (await request("getTransaction", [chainTx, options])) as Found | null | undefined;
      if (found === null || found === undefined || found.meta.err !== null) return [];
      const isFinal = BigInt(found.slot) <= (await head("finalized"));
      const sent: SentMessage[] = [];
      for (const [index, event] of eventsOf(found).entries()) {
        const message = await readEvent(event);
        if (message === undefined) continue;
        const parts = [numberToHex(solanaCctpDomain, { size: 4 }), stringToHex(chainTx), pad(numberToHex(index))];
        const at = (found.blockTime ?? 0) * SECOND_MS;
        sent.push({ message: bytesToHex(message), nonce: keccak256(concat(parts)), at, isFinal });
      }
      return sent;
    },
  };
}

/** The event accounts of a transaction's messages, in order. */
function eventsOf({ transaction: { message }, meta }: Found): string[] {
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {};
  const keys = [...message.accountKeys, ...writable, ...readonly];
  const inner = (meta.innerInstructions ?? []).flatMap(({ instructions }) => instructions);
  return [...message.instructions, ...inner].flatMap(({ programIdIndex, accounts, data }) => {
    if (keys[programIdIndex] !== cctpTransmitter) return [];
    const isMessage = Buffer.from(decodeBase58(data) ?? []).toString("hex", 0, 8) === SEND_MESSAGE;
    const event = isMessage ? keys[accounts[EVENT_ACCOUNT] ?? -1] : undefined;
    return event === undefined ? [] : [event];
  });
}
