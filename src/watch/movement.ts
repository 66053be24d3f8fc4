import type { Selectable } from "kysely";
import { ProviderFailed, type ReceiptPosition, type Transfer } from "../chain/driver.ts";
import type { MovementTable } from "../db/schema.ts";

export type MovementRow = Selectable<MovementTable>;

export type Direction = "in" | "out";

/** A transfer that touches an inbox, before its place in its transaction is known. One between two inboxes is two of them. */
export type InboxTransfer = {
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
export type LocatedTransfer = InboxTransfer & { position: number };

/**
 * The transfers that move money into or out of an inbox. Those of nothing are passed over: anybody can cause them in any
 * number, in anybody's name.
 */
export function filterInboxTransfers(
  transfers: readonly Transfer[],
  isInbox: (address: string) => boolean,
): InboxTransfer[] {
  const inboxTransfers: InboxTransfer[] = [];
  for (const transfer of transfers) {
    const isIn = isInbox(transfer.to);
    const isOut = isInbox(transfer.from);
    if (!isIn && !isOut) continue;
    const amountUnits = parseAmount(transfer);
    if (amountUnits === 0n) continue;
    const { token, from, to, chainTx, logIndex, blockNumber, blockHash, position } = transfer;
    const place = { token, amountUnits, chainTx, logIndex, blockNumber, blockHash, position };
    if (isIn) inboxTransfers.push({ direction: "in", inbox: to, counterparty: from, ...place });
    if (isOut) inboxTransfers.push({ direction: "out", inbox: from, counterparty: to, ...place });
  }
  return inboxTransfers;
}

/** The transactions in which they stand, each once. */
export function distinctChainTxs(candidates: readonly InboxTransfer[]): string[] {
  return [...new Set(candidates.map(({ chainTx }) => chainTx))];
}

/** The transactions whose receipts say where candidates stand, each once. */
export function chainTxsWithoutPosition(candidates: readonly InboxTransfer[]): string[] {
  return distinctChainTxs(candidates.filter(({ position }) => position === undefined));
}

/**
 * Gives each candidate its position inside its transaction's receipt, unless that is known. Throws ProviderFailed when a receipt is missing or belongs to
 * another block: the provider's answers do not describe one chain then, and nothing of it may be believed yet.
 */
export function assignPositions(
  inboxTransfers: readonly InboxTransfer[],
  positions: readonly ReceiptPosition[],
): LocatedTransfer[] {
  const receipts = new Map(positions.map((position) => [position.chainTx, position]));
  // The same log twice in one answer is one log.
  const located = new Map<string, LocatedTransfer>();
  for (const candidate of inboxTransfers) {
    const position = candidate.position ?? computePosition(receipts.get(candidate.chainTx), candidate);
    const sighting = { ...candidate, position };
    located.set(movementKey(sighting), sighting);
  }
  return [...located.values()];
}

function computePosition(
  receipt: ReceiptPosition | undefined,
  { chainTx, blockHash, logIndex }: InboxTransfer,
): number {
  const position = logIndex - (receipt?.logIndexFirst ?? Infinity);
  if (receipt === undefined || receipt.blockHash !== blockHash || !receipt.succeeded || position < 0)
    throw new ProviderFailed("unknown_block", `the receipt of ${chainTx} does not agree with its logs`);
  return position;
}

/** What makes a movement the same one, however often it is mined. */
function movementKey(movement: { chainTx: string; position: number; direction: Direction }): string {
  return `${movement.chainTx}/${movement.position}/${movement.direction}`;
}

/** The same beside everything else that moves: the inbox and the token are part of it. */
export function movementIdentity(
  movement: Pick<LocatedTransfer, "chainTx" | "position" | "direction" | "inbox" | "token">,
): string {
  return `${movement.chainTx}/${movement.position}/${movement.direction}/${movement.inbox}/${movement.token}`;
}

export type FinalComparison = {
  /** On the final chain, but not recorded like that. */
  missing: InboxTransfer[];
  /** Recorded, but not in what the final chain was said to hold. */
  unmatched: MovementRow[];
};

/** Compares what a final stretch of the chain holds with what is recorded of it (orphaned rows left out). */
export function compareWithRecorded(
  inboxTransfers: readonly InboxTransfer[],
  recorded: readonly MovementRow[],
): FinalComparison {
  const rowAt = new Map(
    recorded.map((row) => [logPlaceKey({ ...row, blockHash: row.block_hash, logIndex: row.log_index }), row]),
  );
  const places = new Set(inboxTransfers.map(logPlaceKey));
  return {
    missing: inboxTransfers.filter(
      (candidate) => rowAt.get(logPlaceKey(candidate))?.amount_units !== candidate.amountUnits,
    ),
    unmatched: [...rowAt].flatMap(([place, row]) => (places.has(place) ? [] : [row])),
  };
}

type LogPlace = Pick<InboxTransfer, "blockHash" | "logIndex" | "direction" | "inbox" | "token">;

function logPlaceKey({ blockHash, logIndex, direction, inbox, token }: LogPlace): string {
  return `${blockHash}/${logIndex}/${direction}/${inbox}/${token}`;
}

function parseAmount({ amountText, chainTx }: Transfer): bigint {
  try {
    return BigInt(amountText);
  } catch (error) {
    throw new ProviderFailed("bad_answer", `a transfer in ${chainTx} has no amount`, { cause: error });
  }
}
