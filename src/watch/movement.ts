import type { Selectable } from "kysely";
import {
  ProviderFailed,
  type ProvenCrossing,
  type ProvenTransfer,
  type TransactionProof,
  type Transfer,
} from "../chain/reader.ts";
import type { MovementTable } from "./watchTables.ts";
import { BatchPayments, type BatchPayment } from "./nettedBatch.ts";

export type MovementRow = Selectable<MovementTable>;

export type Direction = "in" | "out";

/** A transfer into or out of an inbox, before it is identified. A transfer between two inboxes gives two. */
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
  /** Set where it is known without a proof. */
  identity?: string | undefined;
  /** Only for transfers out: what their recipient paid on, if it is the hub and netted them. */
  batch?: BatchPayment | undefined;
  /** Set where the bridge moved the transfer to or from the same inbox on another chain. */
  crossing?: CrossingEnd | undefined;
};

/**
 * One end of a crossing between an inbox and itself. `crossingName`: see ProvenCrossing's name. `sender`: an address of
 * another kind of chain that burned; the end is one only if it is an inbox of the same intent.
 */
export type CrossingEnd = { crossingName: string; feeUnits: bigint; sender?: string | undefined };

/** A movement as the chain shows it now. Its transaction, identity, direction, inbox and token survive a reorg. */
export type LocatedTransfer = InboxTransfer & { identity: string };

/**
 * Selects the transfers into or out of inboxes. Skips zero amounts, because anybody can send them in any number, from
 * any address.
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

/** The distinct transactions of the candidates. */
export function distinctChainTxs(candidates: readonly InboxTransfer[]): string[] {
  return [...new Set(candidates.map(({ chainTx }) => chainTx))];
}

/**
 * The distinct transactions whose proofs are needed: to identify the transfers, to read what the hub paid on, and to
 * recognize crossings. `mintSender`: of the reader.
 */
export function chainTxsToProve(transfers: readonly InboxTransfer[], mintSender: string | undefined): string[] {
  return distinctChainTxs(transfers.filter((transfer) => needsProof(transfer, mintSender)));
}

function needsProof({ identity, direction, counterparty }: InboxTransfer, mintSender: string | undefined): boolean {
  return identity === undefined || direction === "out" || counterparty === mintSender;
}

/** Adds what the hub paid on. `transfers`: all of the watched tokens in the blocks of the candidates. */
export function attachBatches(
  candidates: readonly InboxTransfer[],
  transfers: readonly Transfer[],
): readonly InboxTransfer[] {
  const chainTxs = new Set(candidates.flatMap(({ direction, chainTx }) => (direction === "out" ? chainTx : [])));
  if (chainTxs.size === 0) return candidates;
  const relevant = transfers.filter(({ chainTx }) => chainTxs.has(chainTx));
  const byTx = Map.groupBy(relevant, ({ chainTx, blockHash }) => `${chainTx}/${blockHash}`);
  const payments = new Map([...byTx].map(([key, ofTx]) => [key, new BatchPayments(ofTx)]));
  return candidates.map((candidate) =>
    candidate.direction === "out"
      ? { ...candidate, batch: payments.get(`${candidate.chainTx}/${candidate.blockHash}`)?.find(candidate) }
      : candidate,
  );
}

/**
 * Identifies each transfer, by its transaction's proof where necessary. Throws ProviderFailed when a proof is missing
 * or names another block, because the provider's answers are then inconsistent and must not be recorded: without its
 * proof a mint would be a payment, and a burn a loss. `mintSender`: of the reader.
 */
export function assignIdentities(
  inboxTransfers: readonly InboxTransfer[],
  proofs: readonly TransactionProof[],
  mintSender: string | undefined,
): LocatedTransfer[] {
  const proofOf = new Map(proofs.map((proof) => [proof.chainTx, proof]));
  // Repeated transfers in one answer count once.
  const located = new Map<string, LocatedTransfer>();
  const paymentsOf = new Map<string, BatchPayments>();
  const crossingsOf = new Map<string, ProvenCrossing[]>();
  for (const transfer of inboxTransfers) {
    if (needsProof(transfer, mintSender)) requireProof(proofOf.get(transfer.chainTx), transfer);
    const identity = transfer.identity ?? proveIdentity(proofOf.get(transfer.chainTx), transfer);
    const batch = transfer.direction === "out" ? findBatch(transfer) : undefined;
    const key = `${transfer.chainTx}/${identity}/${transfer.direction}`;
    if (!located.has(key))
      located.set(key, { ...transfer, identity, batch, crossing: takeCrossing(transfer, identity) });
  }
  return [...located.values()];

  /**
   * Each crossing explains one transfer. A mint explains the one that it gave, of new tokens. Transfers that the same
   * burns could explain move the same units.
   */
  function takeCrossing(
    { chainTx, blockHash, direction, inbox, amountUnits, counterparty }: InboxTransfer,
    identity: string,
  ): CrossingEnd | undefined {
    if (direction === "in" && counterparty !== mintSender) return undefined;
    const proof = proofOf.get(chainTx);
    if (proof?.crossings === undefined || proof.blockHash !== blockHash) return undefined;
    const crossings = crossingsOf.get(chainTx) ?? [...proof.crossings()];
    crossingsOf.set(chainTx, crossings);
    const index = crossings.findIndex(
      (each) =>
        each.direction === direction &&
        each.units === amountUnits &&
        mayEndAt(each, inbox) &&
        (each.identity === undefined || each.identity === identity),
    );
    const [crossing] = index < 0 ? [] : crossings.splice(index, 1);
    if (crossing === undefined) return undefined;
    const { name: crossingName, feeUnits, sender, foreignSender } = crossing;
    return { crossingName, feeUnits, ...(sender === undefined && { sender: foreignSender }) };
  }

  function findBatch(pull: InboxTransfer): BatchPayment | undefined {
    const { chainTx, blockHash } = pull;
    const proof = proofOf.get(chainTx);
    if (proof?.transfers === undefined || proof.blockHash !== blockHash) return undefined;
    const payments = paymentsOf.get(chainTx) ?? new BatchPayments(proof.transfers());
    paymentsOf.set(chainTx, payments);
    return payments.find(pull);
  }
}

/**
 * Whether a crossing may be one of the inbox. It burns for no other account than its address commits to, so the
 * recipient of its own burn is not compared where it is of another kind of chain. The sender of a mint from another kind
 * of chain is compared with the intent's inboxes when the movement is recorded.
 */
function mayEndAt({ direction, sender, foreignSender, recipient }: ProvenCrossing, inbox: string): boolean {
  if (direction === "out") return sender === inbox && (recipient === inbox || recipient === undefined);
  return recipient === inbox && (sender === inbox || foreignSender !== undefined);
}

function proveIdentity(proof: TransactionProof | undefined, transfer: InboxTransfer): string {
  const identity = requireProof(proof, transfer).identityAt(transfer.place);
  if (identity === undefined)
    throw new ProviderFailed("unknown_block", `the proof of ${transfer.chainTx} contradicts its transfers`);
  return identity;
}

/** Throws ProviderFailed for one that is missing, or of another block. */
function requireProof(
  proof: TransactionProof | undefined,
  { chainTx, blockHash, blockNumber }: InboxTransfer,
): TransactionProof {
  if (proof?.blockHash === blockHash && proof.blockNumber !== blockNumber)
    throw new ProviderFailed("contradictory", `the proof of ${chainTx} names another number of its block`);
  if (proof === undefined || proof.blockHash !== blockHash || !proof.succeeded)
    throw new ProviderFailed("unknown_block", `the proof of ${chainTx} contradicts its transfers`);
  return proof;
}

/** A recorded movement as a transfer that no proof has explained yet. */
export function toTransfer(row: MovementRow): LocatedTransfer {
  const { direction, inbox, token, counterparty, place, identity } = row;
  const at = { chainTx: row.chain_tx, blockNumber: row.block_number, blockHash: row.block_hash };
  return { direction, inbox, token, counterparty, amountUnits: row.amount_units, place, identity, ...at };
}

/** Whether a transfer is the recorded movement: place and amount alone may be those of another inbox. */
export function isTransferOf(row: MovementRow, transfer: ProvenTransfer): boolean {
  const [inbox, counterparty] = row.direction === "in" ? [transfer.to, transfer.from] : [transfer.from, transfer.to];
  const isBetween = inbox === row.inbox && counterparty === row.counterparty && transfer.token === row.token;
  return isBetween && transfer.place === row.place && parseAmount(transfer) === row.amount_units;
}

/** The key of a movement, the same in every block. */
export function movementKey(
  movement: Pick<LocatedTransfer, "chainTx" | "identity" | "direction" | "inbox" | "token">,
): string {
  return `${movement.chainTx}/${movement.identity}/${movement.direction}/${movement.inbox}/${movement.token}`;
}

export type FinalComparison = {
  /** On the final chain, but missing or different in our tables. */
  missing: InboxTransfer[];
  /** In our tables, but missing in the reread transfers. */
  unmatched: MovementRow[];
};

/** Compares the transfers of final blocks with the recorded movements (orphaned rows left out). */
export function compareWithRecorded(
  inboxTransfers: readonly InboxTransfer[],
  recorded: readonly MovementRow[],
): FinalComparison {
  const rowAt = new Map(recorded.map((row) => [movementPlace({ ...row, blockHash: row.block_hash }), row]));
  const places = new Set(inboxTransfers.map(movementPlace));
  return {
    missing: inboxTransfers.filter((transfer) => {
      const row = rowAt.get(movementPlace(transfer));
      const isSame = row?.amount_units === transfer.amountUnits && row.counterparty === transfer.counterparty;
      return !isSame || row.block_number !== transfer.blockNumber;
    }),
    unmatched: [...rowAt].flatMap(([place, row]) => (places.has(place) ? [] : [row])),
  };
}

type MovementPlace = Pick<InboxTransfer, "blockHash" | "place" | "direction" | "inbox" | "token">;

/** The key of a movement in its block. */
export function movementPlace({ blockHash, place, direction, inbox, token }: MovementPlace): string {
  return `${blockHash}/${place}/${direction}/${inbox}/${token}`;
}

function parseAmount({ amountText, place, token }: ProvenTransfer): bigint {
  try {
    return BigInt(amountText);
  } catch (error) {
    throw new ProviderFailed("bad_answer", `the transfer of ${token} at ${place} has no amount`, { cause: error });
  }
}
