import type { Selectable } from "kysely";
import { ProviderFailed, type TransactionProof, type Transfer } from "../chain/reader.ts";
import type { MovementTable } from "../db/schema.ts";

export type MovementRow = Selectable<MovementTable>;

export type Direction = "in" | "out";

/** A transfer that touches an inbox, before its identity is known. One between two inboxes is two of them. */
export type InboxTransfer = {
  direction: Direction;
  inbox: string;
  token: string;
  counterparty: string;
  amountUnits: bigint;
  chainTx: string;
  place: bigint;
  blockNumber: bigint;
  blockHash: string;
  /** Where it is known without a proof. */
  identity?: string | undefined;
};

/** A movement as the chain shows it now. Its transaction, identity, direction, inbox and token are the same wherever it is mined. */
export type LocatedTransfer = InboxTransfer & { identity: string };

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
    const { token, from, to, chainTx, place, blockNumber, blockHash, identity } = transfer;
    const moved = { token, amountUnits, chainTx, place, blockNumber, blockHash, identity };
    if (isIn) inboxTransfers.push({ direction: "in", inbox: to, counterparty: from, ...moved });
    if (isOut) inboxTransfers.push({ direction: "out", inbox: from, counterparty: to, ...moved });
  }
  return inboxTransfers;
}

/** The transactions in which they stand, each once. */
export function distinctChainTxs(candidates: readonly InboxTransfer[]): string[] {
  return [...new Set(candidates.map(({ chainTx }) => chainTx))];
}

/** The transactions whose proofs are needed to identify the transfers, each once. */
export function chainTxsWithoutIdentity(transfers: readonly InboxTransfer[]): string[] {
  return distinctChainTxs(transfers.filter(({ identity }) => identity === undefined));
}

/**
 * Gives each transfer its identity, by its transaction's proof where it is not known. Throws ProviderFailed when a proof is missing or of
 * another block: the provider's answers do not describe one chain then, and none of them may be recorded yet.
 */
export function assignIdentities(
  inboxTransfers: readonly InboxTransfer[],
  proofs: readonly TransactionProof[],
): LocatedTransfer[] {
  const proofOf = new Map(proofs.map((proof) => [proof.chainTx, proof]));
  // The same transfer twice in one answer is one transfer.
  const located = new Map<string, LocatedTransfer>();
  for (const transfer of inboxTransfers) {
    const identity = transfer.identity ?? proveIdentity(proofOf.get(transfer.chainTx), transfer);
    located.set(`${transfer.chainTx}/${identity}/${transfer.direction}`, { ...transfer, identity });
  }
  return [...located.values()];
}

function proveIdentity(proof: TransactionProof | undefined, { chainTx, blockHash, place }: InboxTransfer): string {
  const identity = proof?.identityAt(place);
  if (proof === undefined || proof.blockHash !== blockHash || !proof.succeeded || identity === undefined)
    throw new ProviderFailed("unknown_block", `the proof of ${chainTx} does not agree with its transfers`);
  return identity;
}

/** Names a movement among all movements, in whichever block it is mined. */
export function movementKey(
  movement: Pick<LocatedTransfer, "chainTx" | "identity" | "direction" | "inbox" | "token">,
): string {
  return `${movement.chainTx}/${movement.identity}/${movement.direction}/${movement.inbox}/${movement.token}`;
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
  const rowAt = new Map(recorded.map((row) => [placeKey({ ...row, blockHash: row.block_hash }), row]));
  const places = new Set(inboxTransfers.map(placeKey));
  return {
    missing: inboxTransfers.filter((transfer) => rowAt.get(placeKey(transfer))?.amount_units !== transfer.amountUnits),
    unmatched: [...rowAt].flatMap(([place, row]) => (places.has(place) ? [] : [row])),
  };
}

type MovementPlace = Pick<InboxTransfer, "blockHash" | "place" | "direction" | "inbox" | "token">;

function placeKey({ blockHash, place, direction, inbox, token }: MovementPlace): string {
  return `${blockHash}/${place}/${direction}/${inbox}/${token}`;
}

function parseAmount({ amountText, chainTx }: Transfer): bigint {
  try {
    return BigInt(amountText);
  } catch (error) {
    throw new ProviderFailed("bad_answer", `a transfer in ${chainTx} has no amount`, { cause: error });
  }
}
