import type { Block, Ledger } from "../ledger/ledger.ts";
import { encodeLanded, encodeTime, encodeWithAccounts } from "./encodeTransaction.ts";
import type { Methods } from "./methods.ts";
import { readInteger, readOptions, readStoredCommitment } from "./params.ts";
import type { CallOptions } from "./params.ts";
import { RpcError } from "./rpcError.ts";

const SLOTS_MAX = 500_000;

export type BlockMethodOptions = {
  /** Providers with long-term storage refuse skipped slots by another code. */
  readonly hasLongTermStorage: boolean;
};

export function blockMethods(ledger: Ledger, { hasLongTermStorage }: BlockMethodOptions): Methods {
  const find = (slot: number, head: Block): Block => {
    const first = ledger.firstSlot;
    if (slot > head.slot) throw new RpcError("blockNotAvailable", `Block not available for slot ${slot}`);
    const words = `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`;
    if (slot < first) throw new RpcError("blockCleanedUp", words, { firstAvailableBlock: first });
    const block = ledger.block(slot);
    if (block !== undefined) return block;
    if (hasLongTermStorage)
      throw new RpcError("slotSkippedInLongTermStorage", `Slot ${slot} was skipped, or missing in long-term storage`);
    throw new RpcError("slotSkipped", `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);
  };
  return {
    getBlock: ([slot, given]) => {
      const options = typeof given === "string" ? { encoding: given } : readOptions(given);
      const block = find(readInteger(slot), ledger.head(readStoredCommitment(options)));
      return { ...encodeBlock(block, options), blockTime: encodeTime(ledger, block) };
    },
    getBlockTime: ([slot]) => encodeTime(ledger, find(readInteger(slot), ledger.head("confirmed"))),
    getBlocks: ([start, end, given]) => {
      const options = readOptions(typeof end === "number" ? given : (end ?? given));
      const head = ledger.head(readStoredCommitment(options));
      const from = readInteger(start);
      const to = Math.min(head.slot, typeof end === "number" ? readInteger(end) : from + SLOTS_MAX);
      if (typeof end === "number" && end - from > SLOTS_MAX)
        throw new RpcError("invalidParams", `Slot range too large; max ${SLOTS_MAX}`);
      return ledger.slots({ from, to, limit: SLOTS_MAX });
    },
    getBlocksWithLimit: ([start, limit, options]) => {
      const head = ledger.head(readStoredCommitment(readOptions(options)));
      if (readInteger(limit) > SLOTS_MAX) throw new RpcError("invalidParams", `Limit too large; max ${SLOTS_MAX}`);
      return ledger.slots({ from: readInteger(start), to: head.slot, limit: readInteger(limit) });
    },
  };
}

function encodeBlock(block: Block, options: CallOptions): object {
  const { hash, height, parentHash, parentSlot, transactions } = block;
  const rewards = options["rewards"] === false ? {} : { rewards: [] };
  const head = { blockhash: hash, previousBlockhash: parentHash, parentSlot, blockHeight: height };
  return { ...head, ...encodeDetails(transactions, options), ...rewards };
}

function encodeDetails(transactions: Block["transactions"], options: CallOptions): object {
  switch (options["transactionDetails"] ?? "full") {
    case "full":
      return { transactions: transactions.map((each) => encodeLanded(each, options)) };
    case "accounts":
      return { transactions: transactions.map((each) => encodeWithAccounts(each, options)) };
    case "signatures":
      return { signatures: transactions.map(({ signature }) => signature) };
    case "none":
      return {};
    default:
      throw new RpcError("invalidParams", "Invalid params: unknown transactionDetails");
  }
}
