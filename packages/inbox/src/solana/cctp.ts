import { utf8ToBytes } from "@noble/hashes/utils";
import { deriveAddress } from "./derive.ts";
import { decodeKey } from "./keys.ts";

/** Circle's TokenMessengerMinterV2 and MessageTransmitterV2 on Solana, in every cluster. */
export const cctpMessenger = "CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe";
export const cctpTransmitter = "CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC";

/** The accounts of a burn that follow from mint, domain and sender. */
export type CctpAccounts = {
  readonly transmitter: string;
  readonly senderAuthority: string;
  /** Exists only for a sender that Circle denies. */
  readonly denylist: string;
  readonly transmitterState: string;
  readonly messengerState: string;
  readonly remoteMessenger: string;
  readonly minter: string;
  readonly localToken: string;
  readonly eventAuthority: string;
};

export type CctpBurn = {
  readonly mint: string;
  /** Circle's number of the destination. */
  readonly domain: number;
  /** The owner of the burned tokens. */
  readonly sender: string;
};

export function deriveCctpAccounts({ mint, domain, sender }: CctpBurn): CctpAccounts {
  const ofMessenger = (...seeds: Uint8Array[]) => deriveAddress(seeds, cctpMessenger).address;
  return {
    transmitter: cctpTransmitter,
    senderAuthority: ofMessenger(utf8ToBytes("sender_authority")),
    denylist: ofMessenger(utf8ToBytes("denylist_account"), decodeKey("sender", sender)),
    transmitterState: deriveAddress([utf8ToBytes("message_transmitter")], cctpTransmitter).address,
    messengerState: ofMessenger(utf8ToBytes("token_messenger")),
    remoteMessenger: ofMessenger(utf8ToBytes("remote_token_messenger"), utf8ToBytes(String(domain))),
    minter: ofMessenger(utf8ToBytes("token_minter")),
    localToken: ofMessenger(utf8ToBytes("local_token"), decodeKey("mint", mint)),
    eventAuthority: ofMessenger(utf8ToBytes("__event_authority")),
  };
}
