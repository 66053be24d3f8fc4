import type { ChainReceipt, ReceiptPosition, Transfer } from "../../src/chain/driver.ts";
import type { ScriptedBlock } from "./chain/transaction.ts";
import { digestOf } from "./chain/transaction.ts";

// A provider that lies does so on purpose: always the same of the same transaction, with receipts that fit. It invents payments, alters
// amounts and leaves payments out. One of three may, where two must agree.

export type Lie = {
  /** Where invented money goes. */
  inboxes: () => string[];
  token: string;
};

const INVENTED_LOG_INDEX = 900;
const INVENTED_UNITS = 77_000_000n;

/** What a liar makes of the transfers of some blocks. */
export function lieOf(transfers: readonly Transfer[], lie: Lie, blocks: readonly ScriptedBlock[]): Transfer[] {
  const told = transfers.flatMap((transfer) => {
    const whim = whimOf(transfer.chainTx);
    if (whim === 0) return [];
    return whim === 1 ? { ...transfer, amountText: (BigInt(transfer.amountText) * 10n).toString() } : transfer;
  });
  return [...told, ...blocks.flatMap((block) => inventedIn(block, lie))];
}

/** The payment that a liar claims to stand in a block; in every fourth there is one. */
function inventedIn(block: ScriptedBlock, { inboxes, token }: Lie): Transfer[] {
  const to = inboxes().at(-1);
  if (to === undefined || !isChosen(block.hash)) return [];
  return [
    {
      token,
      from: `0x${"0bad".repeat(10)}`,
      to,
      amountText: INVENTED_UNITS.toString(),
      chainTx: inventedTx(block.hash),
      logIndex: INVENTED_LOG_INDEX,
      blockNumber: block.number,
      blockHash: block.hash,
    },
  ];
}

/** Of the named transactions those that were invented in one of the blocks. */
export function inventedPositions(chainTxs: readonly string[], blocks: readonly ScriptedBlock[]): ReceiptPosition[] {
  return blocks.flatMap(({ hash: blockHash }) => {
    const chainTx = inventedTx(blockHash);
    if (!isChosen(blockHash) || !chainTxs.includes(chainTx)) return [];
    return { chainTx, blockHash, succeeded: true, logIndexFirst: INVENTED_LOG_INDEX };
  });
}

export function inventedReceipt(chainTx: string, blocks: readonly ScriptedBlock[]): ChainReceipt | undefined {
  const block = blocks.find(({ hash }) => isChosen(hash) && inventedTx(hash) === chainTx);
  return block && { chainTx, blockNumber: block.number, blockHash: block.hash, succeeded: true, gasUsed: 50_000n };
}

function inventedTx(blockHash: string): string {
  return digestOf("invented", blockHash);
}

function isChosen(blockHash: string): boolean {
  return whimOf(blockHash) < 2;
}

function whimOf(hash: string): number {
  return Number.parseInt(hash.slice(-4), 16) % 8;
}
