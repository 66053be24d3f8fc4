import { parseKey } from "@tributary/inbox/solana/keys";
import { BLOCKHASH_AGE_MAX } from "../ledger/ledger.ts";
import type { LandedTransaction } from "../ledger/executedTransaction.ts";
import type { Block, Ledger } from "../ledger/ledger.ts";
import { encodeLanded, encodeStatus, encodeTime } from "./encodeTransaction.ts";
import type { Methods } from "./methods.ts";
import {
  parseBase58,
  readBlock,
  readInteger,
  readKey,
  readList,
  readOptions,
  readStoredCommitment,
  readText,
  withContext,
} from "./params.ts";
import { RpcError } from "./rpcError.ts";

const SIGNATURES_MAX = 1_000;
const STATUSES_MAX = 256;

/** Methods about transactions that landed. */
export function transactionMethods(ledger: Ledger): Methods {
  const blockOf = ({ slot }: LandedTransaction): Block => ledger.block(slot) ?? ledger.open;
  return {
    getSignaturesForAddress: ([key, given]) => {
      const options = readOptions(given);
      const commitment = readStoredCommitment(options);
      const { slot } = readBlock(ledger, { ...options, commitment });
      const { limit = SIGNATURES_MAX, before, until } = options;
      const max = readInteger(limit);
      if (max < 1 || max > SIGNATURES_MAX) throw new RpcError("invalidParams", `Invalid limit; max ${SIGNATURES_MAX}`);
      const landed = ledger.transactionsOf(readKey(key)).filter((each) => each.slot <= slot);
      const page = cut(ledger, landed, { before: readSignature(before), until: readSignature(until) });
      return page.slice(0, max).map((each) => ({
        signature: each.signature,
        slot: each.slot,
        err: each.error,
        memo: null,
        blockTime: encodeTime(ledger, blockOf(each)),
        confirmationStatus: ledger.commitmentOf(blockOf(each)),
      }));
    },
    getSignatureStatuses: ([signatures, given]) => {
      const isSearched = readOptions(given)["searchTransactionHistory"] === true;
      const values = readList(signatures, STATUSES_MAX).map((each) => {
        const landed = ledger.transaction(readSignature(each) ?? "");
        if (landed === undefined) return null;
        const { height } = blockOf(landed);
        const depth = ledger.open.height - height;
        // Without a search, nodes look among recent transactions only.
        if (!isSearched && depth > 2 * BLOCKHASH_AGE_MAX) return null;
        const confirmationStatus = ledger.commitmentOf(blockOf(landed));
        const confirmations = confirmationStatus === "finalized" ? null : depth;
        const { slot, error } = landed;
        return { slot, confirmations, err: error, status: encodeStatus(error), confirmationStatus };
      });
      return withContext(ledger.open, values);
    },
    getTransaction: ([signature, given]) => {
      const options = typeof given === "string" ? { encoding: given } : readOptions(given);
      const { slot: head } = ledger.head(readStoredCommitment(options));
      const landed = ledger.transaction(readSignature(signature) ?? "");
      if (landed === undefined || landed.slot > head) return null;
      const { slot, index } = landed;
      return {
        slot,
        transactionIndex: index,
        blockTime: encodeTime(ledger, blockOf(landed)),
        ...encodeLanded(landed, options),
      };
    },
  };
}

/**
 * Newest first, without both bounds. An unknown `before` gives nothing; an unknown `until` gives everything, as on real
 * nodes.
 */
function cut(
  ledger: Ledger,
  landed: readonly LandedTransaction[],
  { before, until }: { before: string | undefined; until: string | undefined },
): LandedTransaction[] {
  const upper = before === undefined ? undefined : ledger.transaction(before);
  if (before !== undefined && upper === undefined) return [];
  const lower = until === undefined ? undefined : ledger.transaction(until);
  return landed
    .filter((each) => (upper === undefined || isOlder(each, upper)) && (lower === undefined || isOlder(lower, each)))
    .toReversed();
}

function isOlder(one: LandedTransaction, other: LandedTransaction): boolean {
  return one.slot < other.slot || (one.slot === other.slot && one.index < other.index);
}

function readSignature(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = readText(value);
  if (parseBase58(text)?.length !== 64 || parseKey(text) !== undefined)
    throw new RpcError("invalidParams", "Invalid param: Invalid");
  return text;
}
