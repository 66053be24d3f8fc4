import { bytesToHex } from "@noble/hashes/utils";
import { decodeKey } from "./solana/keys.ts";

// The bytes of a burn message of CCTP version 2: a head of 148 bytes, then the body of the burn.

const WORD_BYTES = 32;
const HEAD = { source: 4, destination: 8, nonce: 12 } as const;
const BODY_START = 148;
const BODY = { token: 4, recipient: 36, amount: 68, sender: 100, fee: 164, expirationBlock: 196, end: 228 } as const;
/** Hooks are allowed and never used by an inbox. No program on Solana passes more to another one. */
const MESSAGE_BYTES_MAX = 10_240;

export type BurnMessage = {
  sourceDomain: number;
  settleDomain: number;
  /** 32 bytes in lower-case hex. */
  nonce: string;
  /** Accounts as 32 bytes in lower-case hex. */
  token: string;
  recipient: string;
  sender: string;
  units: bigint;
  /** What Circle takes of the units; 0 before it has signed. */
  feeUnits: bigint;
  /** The last block of the settle chain that takes the message; 0 for any. */
  expirationBlock: bigint;
};

/** Who burned how much for whom, from the digits of a message's body; undefined for anything shorter. */
export function parseBurnBody(digits: string): Pick<BurnMessage, "recipient" | "sender" | "units"> | undefined {
  if (digits.length < BODY.end * 2 || !/^[0-9a-f]*$/.test(digits)) return undefined;
  const word = (start: number) => `0x${digits.slice(start * 2, (start + WORD_BYTES) * 2)}`;
  return { recipient: word(BODY.recipient), sender: word(BODY.sender), units: BigInt(word(BODY.amount)) };
}

/** The fields of a message; undefined for bytes that are no burn message. */
export function parseBurnMessage(message: string): BurnMessage | undefined {
  if (!/^0x(?:[0-9a-f]{2})*$/i.test(message)) return undefined;
  const digits = message.slice(2).toLowerCase();
  const length = digits.length / 2;
  if (length < BODY_START + BODY.end || length > MESSAGE_BYTES_MAX) return undefined;
  const bytes = (start: number, count: number) => digits.slice(start * 2, (start + count) * 2);
  const number = (start: number) => Number(`0x${bytes(start, 4)}`);
  const word = (start: number) => `0x${bytes(BODY_START + start, WORD_BYTES)}`;
  return {
    sourceDomain: number(HEAD.source),
    settleDomain: number(HEAD.destination),
    nonce: `0x${bytes(HEAD.nonce, WORD_BYTES)}`,
    token: word(BODY.token),
    recipient: word(BODY.recipient),
    sender: word(BODY.sender),
    units: BigInt(word(BODY.amount)),
    feeUnits: BigInt(word(BODY.fee)),
    expirationBlock: BigInt(word(BODY.expirationBlock)),
  };
}

/** An address of an EVM chain or of Solana as the 32 bytes of a message. */
export function toMessageAccount(address: string): string {
  if (!address.startsWith("0x")) return `0x${bytesToHex(decodeKey("address", address))}`;
  return `0x${address
    .slice(2)
    .toLowerCase()
    .padStart(WORD_BYTES * 2, "0")}`;
}
