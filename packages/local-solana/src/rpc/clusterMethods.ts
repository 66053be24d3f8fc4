import { BLOCKHASH_AGE_MAX, SLOTS_IN_EPOCH } from "../ledger/ledger.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { API_VERSION, readBlock, readInteger, readList, readOptions, readText, withContext } from "./params.ts";
import type { Methods } from "./methods.ts";

const IDENTITY = "1".repeat(32);
const PRIORITIZED_ACCOUNTS_MAX = 128;

/** Methods about the cluster, its slots and its blockhashes. */
export function clusterMethods(ledger: Ledger): Methods {
  return {
    getHealth: () => "ok",
    getVersion: () => ({ "solana-core": API_VERSION, "feature-set": 1 }),
    getIdentity: () => ({ identity: IDENTITY }),
    getGenesisHash: () => ledger.genesisHash,
    getSlot: ([options]) => readBlock(ledger, readOptions(options)).slot,
    getBlockHeight: ([options]) => readBlock(ledger, readOptions(options)).height,
    getTransactionCount: () => ledger.transactionCount,
    getFirstAvailableBlock: () => ledger.firstSlot,
    minimumLedgerSlot: () => ledger.firstSlot,
    getSlotLeader: () => IDENTITY,
    getEpochInfo: ([options]) => {
      const { slot, height } = readBlock(ledger, readOptions(options));
      return {
        absoluteSlot: slot,
        blockHeight: height,
        epoch: Math.floor(slot / SLOTS_IN_EPOCH),
        slotIndex: slot % SLOTS_IN_EPOCH,
        slotsInEpoch: SLOTS_IN_EPOCH,
        transactionCount: ledger.transactionCount,
      };
    },
    getLatestBlockhash: ([options]) => {
      const block = readBlock(ledger, readOptions(options));
      return withContext(block, ledger.latestHash(block));
    },
    isBlockhashValid: ([hash, options]) => {
      const block = readBlock(ledger, readOptions(options));
      return withContext(block, ledger.isHashValid(readText(hash), block));
    },
    getMinimumBalanceForRentExemption: ([bytes]) =>
      ledger.svm.minimumBalanceForRentExemption(BigInt(readInteger(bytes))),
    getRecentPrioritizationFees: ([accounts = []]) => {
      readList(accounts, PRIORITIZED_ACCOUNTS_MAX);
      const { slot } = ledger.head("confirmed");
      const slots = ledger.slots({ from: slot - BLOCKHASH_AGE_MAX + 1, to: slot, limit: BLOCKHASH_AGE_MAX });
      return slots.map((each) => ({ slot: each, prioritizationFee: 0 }));
    },
  };
}
