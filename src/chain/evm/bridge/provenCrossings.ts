import { solanaCctpDomain } from "@tributary/inbox/cctpV2Chains";
import { encodeKey } from "@tributary/inbox/solana/keys";
import { decodeAbiParameters, hexToBytes, parseAbiItem, toEventSelector, zeroAddress, type Hex } from "viem";
import { ProviderFailed, type ProvenCrossing } from "../../reader.ts";
import { TRANSFER_TOPIC } from "../filter/parseTransfers.ts";

// What the events of Circle's CCTP v2 contracts show of a transaction. Only the configured contracts count: anybody can
// emit these events.

/** The bridge contracts of one chain. Addresses in lower case. */
export type BridgeContracts = {
  /** TokenMessengerV2, which burns. */
  readonly messenger: string;
  /** MessageTransmitterV2, which receives. */
  readonly transmitter: string;
  /** The messenger of each other domain, as 32 bytes in lower case. It alone can send a message that mints. */
  readonly remoteMessengers: ReadonlyMap<number, string>;
  /**
   * The messenger of every other domain: the published one, which has the same address on all EVM chains, also on those
   * that this release does not know. Absent where the contracts are not the published ones.
   */
  readonly publishedMessenger?: string | undefined;
};

const BURN = parseAbiItem(
  "event DepositForBurn(address indexed burnToken, uint256 amount, address indexed depositor, bytes32 mintRecipient, uint32 destinationDomain, bytes32 destinationTokenMessenger, bytes32 destinationCaller, uint256 maxFee, uint32 indexed minFinalityThreshold, bytes hookData)",
);
const RECEIPT = parseAbiItem(
  "event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)",
);
const BURN_TOPIC = toEventSelector(BURN);
const RECEIPT_TOPIC = toEventSelector(RECEIPT);
const BURN_DATA = BURN.inputs.filter((input) => !("indexed" in input));
const RECEIPT_DATA = RECEIPT.inputs.filter((input) => !("indexed" in input));

/** Offsets in a burn message's body, in bytes. */
const BODY = { mintRecipient: 36, amount: 68, messageSender: 100, feeExecuted: 164, end: 228 } as const;

type Log = Readonly<Record<string, unknown>>;

/**
 * The crossings that begin or end in a transaction, in the order of its logs. `logs`: those of one verified receipt.
 * Throws ProviderFailed when an event of the bridge is malformed.
 */
export function parseProvenCrossings(logs: readonly unknown[], contracts: BridgeContracts): ProvenCrossing[] {
  return logs.flatMap((entry, place) => {
    const log = entry as Log;
    const topics = Array.isArray(log["topics"]) ? (log["topics"] as unknown[]) : [];
    const address = String(log["address"]).toLowerCase();
    if (address === contracts.messenger && topics[0] === BURN_TOPIC) return [parseBurn(log, topics)];
    if (address === contracts.transmitter && topics[0] === RECEIPT_TOPIC)
      return parseMint(log, topics, contracts).map((mint) => ({ ...mint, identity: findGiven(logs, place, mint) }));
    return [];
  });
}

function parseBurn(log: Log, topics: readonly unknown[]): ProvenCrossing {
  const [units, recipient, domain] = decode(BURN_DATA, log) as [bigint, string, number];
  return {
    direction: "out",
    name: `cctp-v2/${domain}`,
    sender: toAddress(topics[2]),
    recipient: toAddress(recipient),
    units,
    feeUnits: 0n,
  };
}

/** Nothing for a message that no token messenger sent: it mints nothing. */
function parseMint(log: Log, topics: readonly unknown[], contracts: BridgeContracts): ProvenCrossing[] {
  const [domain, sender, body] = decode(RECEIPT_DATA, log) as [number, string, string];
  const messenger = contracts.remoteMessengers.get(domain) ?? contracts.publishedMessenger;
  if (messenger !== sender.toLowerCase() || body.length < 2 + 2 * BODY.end) return [];
  const word = (offset: number) => `0x${body.slice(2 + 2 * offset, 2 + 2 * (offset + 32))}`.toLowerCase();
  const feeUnits = BigInt(word(BODY.feeExecuted));
  const [recipient, from] = [word(BODY.mintRecipient), word(BODY.messageSender)];
  return [
    {
      direction: "in",
      name: `cctp-v2/${domain}/${String(topics[2]).toLowerCase()}`,
      sender: toAddress(from),
      ...(domain === solanaCctpDomain && { foreignSender: encodeKey(hexToBytes(from as Hex)) }),
      recipient: toAddress(recipient),
      units: BigInt(word(BODY.amount)) - feeUnits,
      feeUnits,
    },
  ];
}

/**
 * The identity of the transfer by which a bridge gave what its receipt names: the last one before the receipt, because
 * nothing but the bridge and its token runs between the two. Anybody can transfer as many units to the same inbox in
 * the same transaction, of another token too.
 */
function findGiven(logs: readonly unknown[], place: number, { recipient, units }: ProvenCrossing): string | undefined {
  if (recipient === undefined) return undefined;
  const given = logs.slice(0, place).findLastIndex((entry) => {
    const { topics, data } = entry as Log;
    if (!Array.isArray(topics) || topics[0] !== TRANSFER_TOPIC || !/^0x[0-9a-f]{64}$/i.test(String(data))) return false;
    return toAddress(topics[1]) === zeroAddress && toAddress(topics[2]) === recipient && BigInt(String(data)) === units;
  });
  return given < 0 ? undefined : String(given);
}

function decode(inputs: Parameters<typeof decodeAbiParameters>[0], log: Log): readonly unknown[] {
  try {
    return decodeAbiParameters(inputs, String(log["data"]) as `0x${string}`) as readonly unknown[];
  } catch (error) {
    throw new ProviderFailed("bad_answer", "the provider sent a malformed event of the bridge", { cause: error });
  }
}

/** The address in a word; undefined when the word holds more, such as an account of another kind of chain. */
function toAddress(word: unknown): string | undefined {
  const text = String(word).toLowerCase();
  return /^0x0{24}[0-9a-f]{40}$/.test(text) ? `0x${text.slice(26)}` : undefined;
}
