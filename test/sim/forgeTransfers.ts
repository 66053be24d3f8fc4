import type { TransactionProof, Transfer } from "../../src/chain/reader.ts";
import type { EvmReceipt } from "../../src/chain/evm/node.ts";
import { createProof } from "../../src/chain/evm/proof.ts";
import type { ScriptedBlock } from "./chain/transaction.ts";
import { hashOf } from "./chain/transaction.ts";

// A lying provider forges consistently: the same lies for the same transaction, with matching receipts. It invents
// payments, alters amounts, omits payments, and shows sweeps of one inbox as those of another. One of three providers
// may lie where two must agree.

export type Forgery = {
  /** The payees of invented payments, and the inboxes whose sweeps are swapped. */
  inboxes: () => string[];
  token: string;
  /** Whether it shows all sweeps as those of other inboxes, and lies about nothing else. */
  onlySweeps?: boolean;
};

const FORGED_PLACE = 900n;
const FORGED_UNITS = 77_000_000n;

/** Forges the transfers of some blocks. */
export function forgeTransfers(
  transfers: readonly Transfer[],
  forgery: Forgery,
  blocks: readonly ScriptedBlock[],
): Transfer[] {
  if (forgery.onlySweeps === true) return transfers.map((transfer) => showOtherInbox(transfer, forgery.inboxes()));
  const forged = transfers.flatMap((transfer) => {
    const bucket = hashBucket(transfer.chainTx);
    if (bucket === 0) return [];
    if (bucket === 1) return { ...transfer, amountText: (BigInt(transfer.amountText) * 10n).toString() };
    return bucket === 2 ? showOtherInbox(transfer, forgery.inboxes()) : transfer;
  });
  return [...forged, ...blocks.flatMap((block) => forgedTransfersIn(block, forgery))];
}

/** A transfer out of an inbox as if another one had sent it, with its transaction, place and amount. */
function showOtherInbox(transfer: Transfer, inboxes: readonly string[]): Transfer {
  const index = inboxes.indexOf(transfer.from);
  const other = index < 0 ? undefined : inboxes[(index + 1) % inboxes.length];
  return other === undefined ? transfer : { ...transfer, from: other };
}

/** The payment that a lying provider claims for a block; every fourth block has one. */
function forgedTransfersIn(block: ScriptedBlock, { inboxes, token }: Forgery): Transfer[] {
  const to = inboxes().at(-1);
  if (to === undefined || !hasForgedTransfer(block.hash)) return [];
  return [
    {
      token,
      from: `0x${"0bad".repeat(10)}`,
      to,
      amountText: FORGED_UNITS.toString(),
      chainTx: forgedChainTx(block.hash),
      place: FORGED_PLACE,
      blockNumber: block.number,
      blockHash: block.hash,
    },
  ];
}

/** The proofs of those transactions that are forged in the given blocks. */
export function forgedProofs(chainTxs: readonly string[], blocks: readonly ScriptedBlock[]): TransactionProof[] {
  return blocks.flatMap(({ hash: blockHash, number: blockNumber }) => {
    const chainTx = forgedChainTx(blockHash);
    if (!hasForgedTransfer(blockHash) || !chainTxs.includes(chainTx)) return [];
    const logIndexFirst = Number(FORGED_PLACE);
    return createProof({ chainTx, blockNumber, blockHash, succeeded: true, logIndexFirst, logCount: 1 });
  });
}

export function forgedReceipt(chainTx: string, blocks: readonly ScriptedBlock[]): EvmReceipt | undefined {
  const block = blocks.find(({ hash }) => hasForgedTransfer(hash) && forgedChainTx(hash) === chainTx);
  return block && { chainTx, blockNumber: block.number, blockHash: block.hash, succeeded: true, gasUsed: 50_000n };
}

function forgedChainTx(blockHash: string): string {
  return hashOf("invented", blockHash);
}

function hasForgedTransfer(blockHash: string): boolean {
  return hashBucket(blockHash) < 2;
}

function hashBucket(hash: string): number {
  return Number.parseInt(hash.slice(-4), 16) % 8;
}
