import { cctpMessenger, cctpTransmitter, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import { decodeBase58 } from "@tributary/inbox/solana/base58";
import { decodeKey, encodeKey, tokenProgram } from "@tributary/inbox/solana/keys";
import { parseBurnMessage } from "@tributary/inbox/burnMessage";
import { hexToBytes, type Hex } from "viem";
import type { Instruction, SolanaTransaction } from "../rpc/parseTransaction.ts";

// What Circle's programs gave on Solana. A receipt names its message, and a transaction that succeeded has executed it:
// the messenger alone gives tokens for a message, and its recipient stands in it.

export type BridgeMint = {
  /** The token account that received. */
  readonly account: string;
  /** Place of the receipt among the instructions. */
  readonly order: number;
  /** See ProvenCrossing. */
  readonly name: string;
  /** The number of the message. */
  readonly nonce: string;
  /** Who burned, on an EVM chain; undefined for any other account. */
  readonly foreignSender: string | undefined;
  readonly units: bigint;
  readonly feeUnits: bigint;
};

/**
 * The first bytes of the transmitter's instruction that receives, then message and attestation, each after its length.
 */
const RECEIVE_MESSAGE = "26907fe11fe1ee19";
const TAG_DIGITS = 8;
const MESSAGE_LENGTH = 8;
const MESSAGE = 12;
/** A receipt without anything behind its signatures has fewer digits. */
const SHORT_DIGITS = 1_800;
/** Base58 digits that a double takes, and the bytes that they tell. */
const HEAD_DIGITS = 8;
const HEAD_BYTES = 4;
/** In the message: the program that handles it. */
const HANDLER = 76;
const HANDLER_END = 108;

/** Owns the tokens that the bridge gives out. A transfer from it may be the end of a crossing. */
export const BRIDGE_MINTER = deriveCctpAccounts({ mint: cctpMessenger, domain: 0, sender: cctpMessenger }).minter;

const MESSENGER_BYTES = Buffer.from(decodeKey("messenger", cctpMessenger));

/**
 * Whether data may be a receipt, of whatever length: the program ignores what stands behind the signatures. Anybody can
 * call the transmitter with 10 KB dozens of times in a transaction, and decoding them takes milliseconds each. So the
 * first bytes of long data are computed by logarithms, which are exact to a tenth of the fourth byte.
 */
function mayBeReceipt(data: string): boolean {
  if (data.length <= SHORT_DIGITS) return true;
  const head = Buffer.from(decodeBase58(data.slice(0, HEAD_DIGITS)) ?? []);
  const digits = data.length - HEAD_DIGITS;
  const logOf256 = (Math.log(Number(`0x${head.toString("hex") || "0"}`)) + digits * Math.log(58)) / Math.log(256);
  const first = 256 ** (logOf256 - Math.floor(logOf256) + HEAD_BYTES - 1);
  return Math.abs(first - Number(`0x${RECEIVE_MESSAGE.slice(0, TAG_DIGITS)}`)) < 2;
}

/** The mints of a transaction, in the order of their execution. */
export function parseBridgeMints({ instructions }: Pick<SolanaTransaction, "instructions">): BridgeMint[] {
  return instructions.flatMap(({ program, data }, order) => {
    if (program !== cctpTransmitter || !mayBeReceipt(data)) return [];
    const bytes = Buffer.from(decodeBase58(data) ?? []);
    if (bytes.length < MESSAGE || bytes.toString("hex", 0, MESSAGE_LENGTH) !== RECEIVE_MESSAGE) return [];
    const message = bytes.subarray(MESSAGE, MESSAGE + bytes.readUInt32LE(MESSAGE_LENGTH));
    const burn = parseBurnMessage(`0x${message.toString("hex")}`);
    if (burn === undefined || !message.subarray(HANDLER, HANDLER_END).equals(MESSENGER_BYTES)) return [];
    const { sourceDomain, nonce, recipient, sender, units, feeUnits } = burn;
    return [
      {
        account: encodeKey(hexToBytes(recipient as Hex)),
        order,
        name: `cctp-v2/${sourceDomain}/${nonce}`,
        nonce,
        foreignSender: /^0x0{24}/.test(sender) ? `0x${sender.slice(26)}` : undefined,
        units: units - feeUnits,
        feeUnits,
      },
    ];
  });
}

const TRANSFER = 3;
const TRANSFER_CHECKED = 12;
/** Digits of a transfer's data: the bridge's programs append nothing. */
const TRANSFER_DIGITS_MAX = 32;

/**
 * Whether the bridge gave tokens that no receipt names. Circle may add instructions to its programs: what they give is
 * no deposit, and nobody knows whose burn it is.
 */
export function hasUnknownMint(transaction: Pick<SolanaTransaction, "instructions" | "before">): boolean {
  const custodies = transaction.before.flatMap(({ account, owner }) => (owner === BRIDGE_MINTER ? account : []));
  if (custodies.length === 0) return false;
  const known = parseBridgeMints(transaction).reduce((sum, { units, feeUnits }) => sum + units + feeUnits, 0n);
  return known < transaction.instructions.reduce((sum, each) => sum + givenUnits(each, custodies), 0n);
}

function givenUnits({ program, accounts, data }: Instruction, custodies: readonly string[]): bigint {
  const [source = ""] = accounts;
  if (program !== tokenProgram || !custodies.includes(source) || data.length > TRANSFER_DIGITS_MAX) return 0n;
  const bytes = Buffer.from(decodeBase58(data) ?? []);
  const isTransfer = bytes[0] === TRANSFER || bytes[0] === TRANSFER_CHECKED;
  return isTransfer && bytes.length > 8 ? bytes.readBigUInt64LE(1) : 0n;
}
