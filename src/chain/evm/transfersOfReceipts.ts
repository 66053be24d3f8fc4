import { ProviderFailed, type Transfer, type TransferScope } from "../driver.ts";
import { hash, list, record } from "./hex.ts";
import { readTransfers, TRANSFER_TOPIC } from "./transfers.ts";

export type BlockAnswers = {
  /** Of eth_getBlockBy…, with the hashes of its transactions. */
  block: unknown;
  /** Of eth_getBlockReceipts. */
  receipts: unknown;
};

/**
 * The transfers of `tokens` in all receipts of one block. They come in one answer whatever it holds, but nobody says of it that it is whole:
 * so each transaction that the block names must have its receipt, and each receipt must stand in that block.
 */
export function readReceiptTransfers(
  answers: BlockAnswers,
  scope: TransferScope,
  tokens: readonly string[],
): Transfer[] {
  const block = record(answers.block, "a block");
  const blockHash = hash(block["hash"], "a block hash");
  if ("blockHash" in scope && blockHash !== scope.blockHash) throw bad("bad_answer", "are of another block");
  const receipts = list(answers.receipts, "receipts").map((receipt) => record(receipt, "a receipt"));
  // Asked for by its number, a block may have been replaced between the two answers.
  if (receipts.some((receipt) => hash(receipt["blockHash"], "a block hash") !== blockHash))
    throw bad("unknown_block", "are of another block than its header");
  const told = new Set(receipts.map((receipt) => hash(receipt["transactionHash"], "a transaction hash")));
  const mined = list(block["transactions"], "a block's transactions");
  if (mined.some((chainTx) => !told.has(hash(chainTx, "a transaction hash"))))
    throw bad("bad_answer", "leave out transactions of their block");
  const asked = new Set(tokens);
  const logs = receipts.flatMap((receipt) => list(receipt["logs"], "a receipt's logs"));
  return readTransfers(
    logs.filter((log) => isAsked(log, asked)),
    scope,
    tokens,
  );
}

function isAsked(answer: unknown, tokens: ReadonlySet<string>): boolean {
  const log = record(answer, "a log");
  const [event] = list(log["topics"], "a log's topics");
  return event === TRANSFER_TOPIC && tokens.has(String(log["address"]).toLowerCase());
}

function bad(kind: "bad_answer" | "unknown_block", what: string): ProviderFailed {
  return new ProviderFailed(kind, `the receipts of a block that a provider sent ${what}`);
}
