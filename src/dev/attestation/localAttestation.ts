import { keccak256, numberToHex, pad, type Hex } from "viem";
import { sign } from "viem/accounts";
import { parseBurnMessage } from "@tributary/inbox/burnMessage";
import { DEV_ACCOUNTS } from "../devAccounts.ts";
import type { AttestedSide, SentMessage } from "./attestedSide.ts";

// What Circle's attestation service does, for the local bridge: it waits until the burn is deep enough, fills in the
// fields of the message that the burn left empty, and signs it.

/** Words of a message's header. */
const HEADER_WORDS = { nonce: 12, sender: 44, recipient: 76, destinationCaller: 108 } as const;
const NONCE_BYTE = HEADER_WORDS.nonce;
const THRESHOLD_MIN_BYTE = 140;
const THRESHOLD_EXECUTED_BYTE = 144;
const BODY_BYTE = 148;
const MAX_FEE_BYTE = BODY_BYTE + 132;
/** In the body. */
const HOOK_START = 228;
const FEE_EXECUTED_BYTE = BODY_BYTE + 164;
const EXPIRATION_BYTE = BODY_BYTE + 196;
const FAST = 1_000;
const STANDARD = 2_000;
/** Circle's expire after about a day. */
const EXPIRES_AFTER_BLOCKS = 86_400n;
const PPM_PER_BPS = 100n;
const PPM = 1_000_000n;
const INDEX_MAX = 256n;

/** How the service behaves. Tests change it while it runs. */
export type AttestationSettings = {
  /** The fees that it charges and reports, in basis points. */
  fastFeeBps: number;
  standardFeeBps: number;
  /** Milliseconds since the block until it has seen a burn, and until it signs it. */
  seenAfterMs: number;
  signedAfterMs: number;
  /** Why it does not sign; undefined signs. */
  delayReason: string | undefined;
  /** A message's last block on the settle chain, or slot on Solana, counted from its signing. Absent: about a day. */
  expiresAfterBlocks: bigint;
  /** Milliseconds from a renewal until the new proof replaces the old one. */
  renewedAfterMs: number;
  /** Whether it renews nothing, and says so with status 400. */
  refusesRenewals: boolean;
  /**
   * Whether it answers one burn with the proof of an equal one of another transaction, once. It knows those that it was
   * asked about.
   */
  swapsOnce: boolean;
  /** What a broken service makes of its own answer; undefined answers as it is. */
  alter: ((signed: AttestedMessage) => AttestedMessage) | undefined;
};

export const DEFAULT_SETTINGS: AttestationSettings = {
  fastFeeBps: 1.3,
  standardFeeBps: 0,
  seenAfterMs: 0,
  signedAfterMs: 0,
  delayReason: undefined,
  expiresAfterBlocks: EXPIRES_AFTER_BLOCKS,
  renewedAfterMs: 60_000,
  refusesRenewals: false,
  swapsOnce: false,
  alter: undefined,
};

/** One entry of `/v2/messages`. While it is pending the message is empty. */
export type AttestedMessage = {
  attestation: Hex | "PENDING";
  message: Hex;
  eventNonce: string;
  cctpVersion: 2;
  status: "complete" | "pending_confirmations";
  decodedMessage: DecodedMessage | null;
  delayReason: string | null;
};

/** Numbers are texts, and accounts words of 32 bytes. */
type DecodedMessage = Readonly<Record<Exclude<keyof typeof HEADER_WORDS, "nonce">, Hex>> & {
  sourceDomain: string;
  destinationDomain: string;
  nonce: Hex;
  minFinalityThreshold: string;
  finalityThresholdExecuted: string;
  messageBody: Hex;
  decodedMessageBody: DecodedBody | null;
};

type DecodedBody = {
  burnToken: Hex;
  mintRecipient: Hex;
  amount: string;
  messageSender: Hex;
  maxFee: string;
  feeExecuted: string;
  expirationBlock: string;
  hookData: Hex | null;
};

export class LocalAttestation {
  readonly settings: AttestationSettings = { ...DEFAULT_SETTINGS };
  readonly #sides: readonly AttestedSide[];
  readonly #now: () => number;
  /** By number: a message keeps its expiry until it is asked for anew. */
  readonly #expiries = new Map<Hex, bigint>();
  /** By number: when a message that was asked for anew gets its new expiry. */
  readonly #renewals = new Map<Hex, number>();
  /** The last signed message of each kind of burn. */
  readonly #signed = new Map<string, AttestedMessage>();

  /** `now`: milliseconds of the chains' time. */
  constructor(sides: readonly AttestedSide[], now: () => number) {
    this.#sides = sides;
    this.#now = now;
  }

  /** The messages of a transaction; empty while it has none that the service has seen. */
  async messagesOf(domain: number, chainTx: string): Promise<AttestedMessage[]> {
    const sent = (await this.#sideOf(domain)?.readSent(chainTx)) ?? [];
    const seen = sent.filter(({ at }) => this.#now() - at >= this.settings.seenAfterMs);
    return Promise.all(seen.map((each) => this.#attest(each)));
  }

  /** Signs a message anew after a while, with a later expiry. */
  renew(nonce: Hex): "renewed" | "refused" | "unknown" {
    if (!this.#expiries.has(nonce)) return "unknown";
    if (this.settings.refusesRenewals) return "refused";
    const at = this.#now() + this.settings.renewedAfterMs;
    this.#renewals.set(nonce, Math.min(this.#renewals.get(nonce) ?? at, at));
    return "renewed";
  }

  async #attest({ message, nonce, at, isFinal }: SentMessage): Promise<AttestedMessage> {
    const isFast = readNumber(message, THRESHOLD_MIN_BYTE) <= FAST;
    const ageMs = this.#now() - at;
    const { signedAfterMs, delayReason, fastFeeBps, standardFeeBps } = this.settings;
    const entry = { eventNonce: nonce, cctpVersion: 2 } as const;
    const canSign = ageMs >= signedAfterMs && delayReason === undefined && (isFast || isFinal);
    if (!canSign) {
      const pending = { status: "pending_confirmations", attestation: "PENDING", message: "0x" } as const;
      return { ...entry, ...pending, decodedMessage: null, delayReason: delayReason ?? null };
    }
    const burn = parseBurnMessage(message);
    const feePpm = BigInt(Math.round((isFast ? fastFeeBps : standardFeeBps) * Number(PPM_PER_BPS)));
    const fee = ((burn?.units ?? 0n) * feePpm) / PPM;
    const signed = fill(message, [
      [NONCE_BYTE, nonce],
      [THRESHOLD_EXECUTED_BYTE, numberToHex(isFast ? FAST : STANDARD, { size: 4 })],
      [FEE_EXECUTED_BYTE, pad(numberToHex(fee))],
      [EXPIRATION_BYTE, pad(numberToHex(isFast ? await this.#expiryOf(nonce, burn?.settleDomain) : 0n))],
    ]);
    const signature = await sign({ hash: keccak256(signed), privateKey: DEV_ACCOUNTS.attester.privateKey, to: "hex" });
    const answer = {
      ...entry,
      message: signed,
      attestation: signature,
      status: "complete",
      decodedMessage: decode(signed),
      delayReason: null,
    } as const;
    return this.settings.alter?.(answer) ?? this.#swapOnce(answer);
  }

  #swapOnce(answer: AttestedMessage): AttestedMessage {
    const burn = parseBurnMessage(answer.message);
    const key = [burn?.settleDomain, burn?.recipient, burn?.token, burn?.units].join("/");
    const other = this.#signed.get(key);
    this.#signed.set(key, answer);
    if (!this.settings.swapsOnce || other === undefined || other.eventNonce === answer.eventNonce) return answer;
    this.settings.swapsOnce = false;
    return other;
  }

  async #expiryOf(nonce: Hex, settleDomain: number | undefined): Promise<bigint> {
    const known = this.#expiries.get(nonce);
    const isRenewed = (this.#renewals.get(nonce) ?? Infinity) <= this.#now();
    if (known !== undefined && !isRenewed) return known;
    this.#renewals.delete(nonce);
    const side = settleDomain === undefined ? undefined : this.#sideOf(settleDomain);
    const head = side === undefined ? INDEX_MAX : await side.head();
    const expiry = head + this.settings.expiresAfterBlocks;
    this.#expiries.set(nonce, expiry);
    return expiry;
  }

  #sideOf(domain: number): AttestedSide | undefined {
    return this.#sides.find((side) => side.domain === domain);
  }
}

function decode(message: Hex): DecodedMessage {
  const burn = parseBurnMessage(message);
  const word = (start: number): Hex => `0x${message.slice(2 + start * 2, 2 + (start + 32) * 2)}`;
  const hook = message.slice(2 + (BODY_BYTE + HOOK_START) * 2);
  return {
    sourceDomain: String(burn?.sourceDomain ?? ""),
    destinationDomain: String(burn?.settleDomain ?? ""),
    nonce: word(HEADER_WORDS.nonce),
    sender: word(HEADER_WORDS.sender),
    recipient: word(HEADER_WORDS.recipient),
    destinationCaller: word(HEADER_WORDS.destinationCaller),
    minFinalityThreshold: String(readNumber(message, THRESHOLD_MIN_BYTE)),
    finalityThresholdExecuted: String(readNumber(message, THRESHOLD_EXECUTED_BYTE)),
    messageBody: `0x${message.slice(2 + BODY_BYTE * 2)}`,
    decodedMessageBody: burn
      ? {
          burnToken: burn.token as Hex,
          mintRecipient: burn.recipient as Hex,
          amount: String(burn.units),
          messageSender: burn.sender as Hex,
          maxFee: String(BigInt(word(MAX_FEE_BYTE))),
          feeExecuted: String(burn.feeUnits),
          expirationBlock: String(burn.expirationBlock),
          hookData: hook === "" ? null : `0x${hook}`,
        }
      : null,
  };
}

function readNumber(message: Hex, start: number): number {
  return Number(`0x${message.slice(2 + start * 2, 2 + (start + 4) * 2)}`);
}

function fill(message: Hex, fields: readonly (readonly [start: number, bytes: Hex])[]): Hex {
  let digits = message.slice(2);
  for (const [start, bytes] of fields)
    digits = digits.slice(0, start * 2) + bytes.slice(2) + digits.slice(start * 2 + bytes.length - 2);
  return `0x${digits}`;
}
