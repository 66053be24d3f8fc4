import type { Selectable } from "kysely";
import { ProviderFailed, type ReceiptPosition, type Transfer } from "../chain/driver.ts";
import type { MovementTable } from "../db/schema.ts";

export type MovementRow = Selectable<MovementTable>;

export type Direction = "in" | "out";

/** A transfer that touches an inbox, before its place in its transaction is known. One between two inboxes is two of them. */
export type Candidate = {
  direction: Direction;
  inbox: string;
  token: string;
  counterparty: string;
  amountUnits: bigint;
  chainTx: string;
  logIndex: number;
  blockNumber: bigint;
  blockHash: string;
  /** Place inside its transaction's receipt, where it is known without asking for that. */
  position?: number | undefined;
};

/** A movement as the chain shows it now. Its transaction, position, direction, inbox and token are the same wherever it is mined. */
export type Sighting = Candidate & { position: number };

/**
 * The transfers that move money into or out of an inbox. Those of nothing are passed over: anybody can cause them in any
 * number, in anybody's name.
 */
export function candidatesOf(transfers: readonly Transfer[], isInbox: (address: string) => boolean): Candidate[] {
  const candidates: Candidate[] = [];
  for (const transfer of transfers) {
    const isIn = isInbox(transfer.to);
    const isOut = isInbox(transfer.from);
    if (!isIn && !isOut) continue;
    const amountUnits = amountOf(transfer);
    if (amountUnits === 0n) continue;
    const { token, from, to, chainTx, logIndex, blockNumber, blockHash, position } = transfer;
    const place = { token, amountUnits, chainTx, logIndex, blockNumber, blockHash, position };
    if (isIn) candidates.push({ direction: "in", inbox: to, counterparty: from, ...place });
    if (isOut) candidates.push({ direction: "out", inbox: from, counterparty: to, ...place });
  }
  return candidates;
}

/** The transactions in which they stand, each once. */
export function transactionsOf(candidates: readonly Candidate[]): string[] {
  return [...new Set(candidates.map(({ chainTx }) => chainTx))];
}

/** The transactions whose receipts say where candidates stand, each once. */
export function receiptsNeeded(candidates: readonly Candidate[]): string[] {
  return transactionsOf(candidates.filter(({ position }) => position === undefined));
}

/**
 * Gives each candidate its position inside its transaction's receipt, unless that is known. Throws ProviderFailed when a receipt is missing or belongs to
 * another block: the provider's answers do not describe one chain then, and nothing of it may be believed yet.
 */
export function placed(candidates: readonly Candidate[], positions: readonly ReceiptPosition[]): Sighting[] {
  const receipts = new Map(positions.map((position) => [position.chainTx, position]));
  // The same log twice in one answer is one log.
  const sightings = new Map<string, Sighting>();
  for (const candidate of candidates) {
    const position = candidate.position ?? positionIn(receipts.get(candidate.chainTx), candidate);
    const sighting = { ...candidate, position };
    sightings.set(keyOf(sighting), sighting);
  }
  return [...sightings.values()];
}

function positionIn(receipt: ReceiptPosition | undefined, { chainTx, blockHash, logIndex }: Candidate): number {
  const position = logIndex - (receipt?.logIndexFirst ?? Infinity);
  if (receipt === undefined || receipt.blockHash !== blockHash || !receipt.succeeded || position < 0)
    throw new ProviderFailed("unknown_block", `the receipt of ${chainTx} does not agree with its logs`);
  return position;
}

/** What makes a movement the same one, however often it is mined. */
function keyOf(movement: { chainTx: string; position: number; direction: Direction }): string {
  return `${movement.chainTx}/${movement.position}/${movement.direction}`;
}

/** The same beside everything else that moves: the inbox and the token are part of it. */
export function identityOf(movement: Pick<Sighting, "chainTx" | "position" | "direction" | "inbox" | "token">): string {
  return `${movement.chainTx}/${movement.position}/${movement.direction}/${movement.inbox}/${movement.token}`;
}

export type FinalComparison = {
  /** On the final chain, but not recorded like that. */
  missing: Candidate[];
  /** Recorded, but not in what the final chain was said to hold. */
  doubtful: MovementRow[];
};

/** Compares what a final stretch of the chain holds with what is recorded of it (orphaned rows left out). */
export function compareFinal(candidates: readonly Candidate[], recorded: readonly MovementRow[]): FinalComparison {
  const rowAt = new Map(
    recorded.map((row) => [placeOf({ ...row, blockHash: row.block_hash, logIndex: row.log_index }), row]),
  );
  const places = new Set(candidates.map(placeOf));
  return {
    missing: candidates.filter((candidate) => rowAt.get(placeOf(candidate))?.amount_units !== candidate.amountUnits),
    doubtful: [...rowAt].flatMap(([place, row]) => (places.has(place) ? [] : [row])),
  };
}

type Place = Pick<Candidate, "blockHash" | "logIndex" | "direction" | "inbox" | "token">;

function placeOf({ blockHash, logIndex, direction, inbox, token }: Place): string {
  return `${blockHash}/${logIndex}/${direction}/${inbox}/${token}`;
}

function amountOf({ amountText, chainTx }: Transfer): bigint {
  try {
    return BigInt(amountText);
  } catch (error) {
    throw new ProviderFailed("bad_answer", `a transfer in ${chainTx} has no amount`, { cause: error });
  }
}
