import { concatBytes, utf8ToBytes } from "@noble/hashes/utils";
import { cctpMessenger, cctpTransmitter, deriveCctpAccounts } from "./cctp.ts";
import { deriveAddress, deriveTokenAccount } from "./derive.ts";
import { readonlyMeta, signerMeta, writableMeta, writableSignerMeta } from "./instructions.ts";
import type { SolanaInstruction } from "./instructions.ts";
import { decodeKey, encodeKey, systemProgram, tokenProgram } from "./keys.ts";

// The instructions of Circle's MessageTransmitterV2 that anybody sends: receive_message, and reclaim_event_account of
// who paid for an event.

const discriminators = {
  receiveMessage: [38, 144, 127, 225, 31, 225, 238, 25],
  reclaimEventAccount: [94, 198, 180, 159, 131, 236, 15, 174],
};
/** Places in a message. */
const messageBytes = { source: 4, nonce: 12, sender: 44, body: 148, burnToken: 152, recipient: 184, end: 376 } as const;

/** A signed message, as Circle's attestation service returns it. */
export type AttestedCctpMessage = { readonly message: Uint8Array; readonly attestation: Uint8Array };

export type ReceiveOptions = {
  /** Pays the rent of the number's account. It signs. */
  readonly payer: string;
  /** The mint that is received. */
  readonly mint: string;
  /** The wallet whose token account receives Circle's fee: the messenger's state names it. */
  readonly feeRecipient: string;
};

/**
 * Receives a burn of another chain. The recipient's token account must exist. Throws a RangeError for a message that is
 * no burn.
 */
export function buildReceiveMessage(signed: AttestedCctpMessage, options: ReceiveOptions): SolanaInstruction {
  const { message, attestation } = signed;
  if (message.length < messageBytes.end) throw new RangeError("the message is not a burn");
  const { payer, mint, feeRecipient } = options;
  const domain = new DataView(message.buffer, message.byteOffset).getUint32(messageBytes.source);
  const cctp = deriveCctpAccounts({ mint, domain, sender: mint });
  const ofMessenger = (...seeds: Uint8Array[]) => deriveAddress(seeds, cctpMessenger).address;
  const ofTransmitter = (...seeds: Uint8Array[]) => deriveAddress(seeds, cctpTransmitter).address;
  const burnToken = message.slice(messageBytes.burnToken, messageBytes.recipient);
  return {
    program: cctpTransmitter,
    accounts: [
      writableSignerMeta(payer),
      signerMeta(payer),
      readonlyMeta(ofTransmitter(utf8ToBytes("message_transmitter_authority"), decodeKey("messenger", cctpMessenger))),
      readonlyMeta(cctp.transmitterState),
      writableMeta(deriveUsedNonce(message)),
      readonlyMeta(cctpMessenger),
      readonlyMeta(systemProgram),
      readonlyMeta(ofTransmitter(utf8ToBytes("__event_authority"))),
      readonlyMeta(cctpTransmitter),
      readonlyMeta(cctp.messengerState),
      readonlyMeta(cctp.remoteMessenger),
      readonlyMeta(cctp.minter),
      writableMeta(cctp.localToken),
      readonlyMeta(ofMessenger(utf8ToBytes("token_pair"), utf8ToBytes(String(domain)), burnToken)),
      writableMeta(deriveTokenAccount(feeRecipient, mint, tokenProgram).address),
      writableMeta(encodeRecipient(message)),
      writableMeta(ofMessenger(utf8ToBytes("custody"), decodeKey("mint", mint))),
      readonlyMeta(tokenProgram),
      readonlyMeta(cctp.eventAuthority),
      readonlyMeta(cctpMessenger),
    ],
    data: concatBytes(Uint8Array.from(discriminators.receiveMessage), encodeVector(message), encodeVector(attestation)),
  };
}

/** The account that exists once a message was received. */
export function deriveUsedNonce(message: Uint8Array): string {
  const nonce = message.slice(messageBytes.nonce, messageBytes.sender);
  return deriveAddress([utf8ToBytes("used_nonce"), nonce], cctpTransmitter).address;
}

/**
 * Returns the rent of an event account to its payer, which signs: five days after the burn, with its signed message.
 */
export function buildReclaimEvent(
  signed: AttestedCctpMessage,
  options: { payer: string; event: string },
): SolanaInstruction {
  const { address: state } = deriveAddress([utf8ToBytes("message_transmitter")], cctpTransmitter);
  return {
    program: cctpTransmitter,
    accounts: [writableSignerMeta(options.payer), writableMeta(state), writableMeta(options.event)],
    data: concatBytes(
      Uint8Array.from(discriminators.reclaimEventAccount),
      encodeVector(signed.attestation),
      encodeVector(signed.message),
    ),
  };
}

function encodeRecipient(message: Uint8Array): string {
  return encodeKey(message.slice(messageBytes.recipient, messageBytes.recipient + 32));
}

/** Length in four bytes, then the bytes. */
function encodeVector(bytes: Uint8Array): Uint8Array {
  const length = new DataView(new ArrayBuffer(4));
  length.setUint32(0, bytes.length, true);
  return concatBytes(new Uint8Array(length.buffer), bytes);
}
