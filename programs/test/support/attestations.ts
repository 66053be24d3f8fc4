import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { AttestedCctpMessage } from "@tributary/inbox/solana/cctpInstructions";
import { bytesToHex, hexToBytes, keccak256, type Hex } from "viem";
import { privateKeyToAddress, sign } from "viem/accounts";

// What Circle's attestation service does with a message: it fills in what the burn left empty, and two attesters sign
// its hash.

type Attester = { readonly privateKey: Hex; readonly account: Buffer };

function createAttester(name: string): Attester {
  const privateKey: Hex = `0x${createHash("sha256").update(name).digest("hex")}`;
  const address = Buffer.from(hexToBytes(privateKeyToAddress(privateKey)));
  return { privateKey, account: Buffer.concat([Buffer.alloc(12), address]) };
}

/** In the order of their addresses, as the signatures stand. */
export const ATTESTERS: readonly Attester[] = ["attester 1", "attester 2"]
  .map(createAttester)
  .toSorted((one, other) => Buffer.compare(one.account, other.account));
/** A key that signs for nobody. */
export const STRANGE_ATTESTER = createAttester("attester 3");

const BODY = 148;
const PLACES = { nonce: 12, executed: 144, fee: BODY + 164, expiration: BODY + 196 } as const;
const DOMAIN_SOLANA = 5;
const FAST = 1_000;

export type Executed = { nonce?: number; threshold?: number; fee?: bigint; expiration?: bigint };

/** The message of a burn as it is signed. */
export function execute(
  message: Uint8Array,
  { nonce = 1, threshold = FAST, fee = 0n, expiration = 0n }: Executed = {},
) {
  const filled = Buffer.from(message);
  createHash("sha256").update(`nonce ${nonce}`).digest().copy(filled, PLACES.nonce);
  filled.writeUInt32BE(threshold, PLACES.executed);
  filled.writeBigUInt64BE(fee, PLACES.fee + 24);
  filled.writeBigUInt64BE(expiration, PLACES.expiration + 24);
  return filled;
}

export async function attest(message: Uint8Array, attesters = ATTESTERS): Promise<AttestedCctpMessage> {
  const hash = keccak256(message);
  const signatures = await Promise.all(attesters.map(({ privateKey }) => sign({ hash, privateKey, to: "hex" })));
  return {
    message: new Uint8Array(message),
    attestation: new Uint8Array(Buffer.concat(signatures.map((each) => hexToBytes(each)))),
  };
}

export type IncomingBurn = {
  sender: Buffer;
  recipient: Buffer;
  receiver: Buffer;
  source: number;
  burnToken: Buffer;
  units: bigint;
  feeMax?: bigint;
};

/** A burn on another chain for a token account here. */
export function encodeIncomingBurn(burn: IncomingBurn): Buffer {
  const { sender, recipient, receiver, source, burnToken, units, feeMax = units / 100n } = burn;
  const message = Buffer.alloc(BODY + 228);
  message.writeUInt32BE(1, 0);
  message.writeUInt32BE(source, 4);
  message.writeUInt32BE(DOMAIN_SOLANA, 8);
  sender.copy(message, 44);
  receiver.copy(message, 76);
  message.writeUInt32BE(FAST, 140);
  message.writeUInt32BE(1, BODY);
  burnToken.copy(message, BODY + 4);
  recipient.copy(message, BODY + 36);
  message.writeBigUInt64BE(units, BODY + 92);
  message.fill(0xee, BODY + 112, BODY + 132);
  message.writeBigUInt64BE(feeMax, BODY + 156);
  return message;
}

/** The other signature of the same hash, which the curve permits and Circle's programs do not. */
export function toHighS(signature: Uint8Array): Uint8Array {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
  const s = BigInt(bytesToHex(signature.slice(32, 64)));
  const high = hexToBytes(`0x${(order - s).toString(16).padStart(64, "0")}`);
  return Uint8Array.from([...signature.slice(0, 32), ...high, (signature[64] ?? 0) === 27 ? 28 : 27]);
}
