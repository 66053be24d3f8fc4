import { cctpMessenger, cctpTransmitter, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import { decodeBase58 } from "@tributary/inbox/solana/base58";
import { decodeKey, encodeKey } from "@tributary/inbox/solana/keys";
import { parseBurnMessage } from "@tributary/inbox/burnMessage";
import { hexToBytes, type Hex } from "viem";
import type { SolanaTransaction } from "../rpc/parseTransaction.ts";

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

/** The first bytes of the transmitter's instruction that receives, then message and attestation, each after its length. */
const RECEIVE_MESSAGE = "26907fe11fe1ee19";
const MESSAGE_LENGTH = 8;
const MESSAGE = 12;
/** In the message: the program that handles it. */
const HANDLER = 76;
const HANDLER_END = 108;
/** More digits than the base58 of a whole transaction has. */
const DATA_LENGTH_MAX = 1_800;

/** Owns the tokens that the bridge gives out. A transfer from it may be the end of a crossing. */
export const BRIDGE_MINTER = deriveCctpAccounts({ mint: cctpMessenger, domain: 0, sender: cctpMessenger }).minter;

const MESSENGER_BYTES = Buffer.from(decodeKey("messenger", cctpMessenger));

/** The mints of a transaction, in the order of their execution. */
export function parseBridgeMints({ instructions }: Pick<SolanaTransaction, "instructions">): BridgeMint[] {
  return instructions.flatMap(({ program, data }, order) => {
    if (program !== cctpTransmitter || data.length > DATA_LENGTH_MAX) return [];
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
