import { ProviderFailed, type ChainReader, type TransactionProof } from "../../chain/reader.ts";
import { keepOwnCrossings } from "../inboxes/burningInboxes.ts";
import {
  assignIdentities,
  isTransferOf,
  movementKey,
  toTransfer,
  type LocatedTransfer,
  type MovementRow,
} from "../movement.ts";
import type { WatchWorld } from "../watchWorld.ts";

// Which transfers a bridge moved is in the proofs of their transactions alone. A proof that leaves the bridge's
// event out makes what it gave a second payment and what it took a loss. An invented one hides a payment.

/**
 * The recorded movements that are ends of other crossings by this provider's proofs, or no longer ends of one, as it
 * shows them. Leaves out those that it does not show, or cannot.
 */
export async function listChangedCrossings(
  world: WatchWorld,
  reader: ChainReader,
  recorded: readonly MovementRow[],
): Promise<LocatedTransfer[]> {
  const { mintSender, caip2 } = reader;
  if (mintSender === undefined) return [];
  const rows = recorded.filter(({ direction, counterparty }) => direction === "out" || counterparty === mintSender);
  if (rows.length === 0) return [];
  const { proofs } = await proveReadable(reader, [...new Set(rows.map((row) => row.chain_tx))]);
  const proofOf = new Map(proofs.map((proof) => [`${proof.chainTx}/${proof.blockHash}`, proof]));
  const shown = rows
    .filter((row) => isShown(proofOf.get(`${row.chain_tx}/${row.block_hash}`), row))
    .toSorted((one, other) => (one.place < other.place ? -1 : 1));
  const recordedOf = new Map(shown.map((row) => [movementKey({ ...row, chainTx: row.chain_tx }), row]));
  const located = await keepOwnCrossings(world, caip2, assignIdentities(shown.map(toTransfer), proofs, mintSender));
  return located.filter((each) => {
    const { crossingName = null, feeUnits = null } = each.crossing ?? {};
    const row = recordedOf.get(movementKey(each));
    return row?.explained_by !== crossingName || row.bridge_fee_units !== feeUnits;
  });
}

function isShown(proof: TransactionProof | undefined, row: MovementRow): boolean {
  return proof?.succeeded === true && proof.blockNumber === row.block_number && isProven(proof, row);
}

/** Whether a proof of the movement's block shows it. */
export function isProven(proof: TransactionProof | undefined, row: MovementRow): boolean {
  if (proof?.identityAt(row.place) === undefined) return false;
  // The first provider may have shown another amount, or a real transfer as that of another inbox.
  return proof.transfers === undefined || proof.transfers().some((transfer) => isTransferOf(row, transfer));
}

/**
 * Proofs of the transactions that the provider's answers can be parsed for. It has the others, and says nothing about
 * what they moved.
 */
export async function proveReadable(
  reader: ChainReader,
  chainTxs: readonly string[],
): Promise<{ proofs: readonly TransactionProof[]; unreadable: ReadonlySet<string | undefined> }> {
  try {
    return { proofs: await reader.proofs(chainTxs), unreadable: new Set() };
  } catch (error) {
    if (!(error instanceof ProviderFailed && error.kind === "unreadable")) throw error;
    const unreadable = new Set(error.unreadable.map(({ chainTx }) => chainTx));
    const others = chainTxs.filter((chainTx) => !unreadable.has(chainTx));
    // A second refusal names a transaction that was replaced meanwhile.
    return { proofs: others.length === 0 ? [] : await reader.proofs(others), unreadable };
  }
}
