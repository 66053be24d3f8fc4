import type { TokenConfig } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { referenceOf, type Caip2 } from "../../src/kernel/caip.ts";
import { FEE_RECIPIENT, insertIntent, TEST_TOKEN } from "./intents.ts";
import { RecordedChain, type RecordedTransaction, type RecordedTransfer } from "./recordedChain.ts";

// A recorded history: several payers with exact, short, excess, split, dust, late and wrong-token payments, our sweep
// and a stranger's. A reorg moves some of it and drops some of it for a while.

export type IntentLabel = "oneTime" | "repeatable" | "dust" | "under" | "over";

export type ChainHistory = {
  recordedChain: RecordedChain;
  chainId: number;
  tokens: readonly TokenConfig[];
  intents: readonly IntentRow[];
  labelOf: ReadonlyMap<string, IntentLabel>;
  /** The tips in the order in which they became the head, including those of the replaced branch. */
  tips: readonly string[];
  /** Indexes in `tips` up to the last block with activity. The empty blocks after it are all alike. */
  activeTips: readonly number[];
  /**
   * Indexes in `tips` of the fork's block, of the replaced branch's last block, and of the first block of the longer
   * branch.
   */
  forkAt: number;
  orphanedAt: number;
  reorgAt: number;
  lastTip: string;
  chainTxs: readonly string[];
};

const OTHER_TOKEN = `0x${"77".repeat(20)}`;
const PAYERS = ["a1", "a2", "a3"].map((byte) => `0x${byte.repeat(20)}`);
/** Enough empty blocks that a watcher that catches up reads the earlier ones by ranges. */
const QUIET_BLOCKS = 45;
const FEE_BPS = 50n;

const toTokenConfig = (symbol: string, address: string): TokenConfig => ({
  symbol,
  slug: symbol.toLowerCase(),
  address,
  decimals: 6,
  minimumUnits: 0n,
  isOrigin: true,
  isRail: true,
});

/** Records the history and inserts its intents. The recorded chain shows the block before all of it. */
export async function createChainHistory(
  db: Db,
  { chain, accountId }: { chain: Caip2; accountId: string },
): Promise<ChainHistory> {
  const shared = { account_id: accountId, payout_chain_reference: referenceOf(chain), fee_bps: Number(FEE_BPS) };
  const priced = (price: bigint) => ({ ...shared, price_units: price, price_token_units: price, one_time: true });
  const intents: Record<IntentLabel, IntentRow> = {
    oneTime: await insertIntent(db, priced(1_000n)),
    repeatable: await insertIntent(db, shared),
    dust: await insertIntent(db, { ...shared, minimum_units: 1_000n }),
    under: await insertIntent(db, { ...priced(2_000n), one_time: false }),
    over: await insertIntent(db, priced(500n)),
  };
  const recordedChain = new RecordedChain(chain);
  const { before, left, stayed, afterwards } = buildBranches(intents);
  const tips: string[] = [];
  const append = (parent: string, blocks: readonly RecordedTransaction[][]) => {
    let tip = parent;
    for (const block of blocks) tips.push((tip = recordedChain.addBlock(tip, block)));
    return tip;
  };
  const fork = append(recordedChain.genesis, before);
  const forkAt = tips.length - 1;
  append(fork, left);
  const orphanedAt = tips.length - 1;
  const lastTip = append(fork, [...stayed, ...afterwards, ...Array.from({ length: QUIET_BLOCKS }, () => [])]);
  const chainTxs = [...before, ...left, ...stayed, ...afterwards].flat().map(({ chainTx }) => chainTx);
  return {
    recordedChain,
    chainId: Number(referenceOf(chain)),
    tokens: [toTokenConfig("USDC", TEST_TOKEN), toTokenConfig("EURX", OTHER_TOKEN)],
    intents: Object.values(intents),
    labelOf: new Map(Object.entries(intents).map(([label, intent]) => [intent.id, label as IntentLabel])),
    tips,
    activeTips: [...tips.keys()].slice(0, -QUIET_BLOCKS),
    forkAt,
    orphanedAt,
    reorgAt: orphanedAt + left.length + 1,
    lastTip,
    chainTxs: [...new Set(chainTxs)],
  };
}

type Branches = Record<"before" | "left" | "stayed" | "afterwards", RecordedTransaction[][]>;

function buildBranches(intents: Record<IntentLabel, IntentRow>): Branches {
  const names = createTxHashes(intents.oneTime.id);
  const transaction = (...transfers: RecordedTransfer[]) => ({ chainTx: names.next(), transfers });
  const to = (label: IntentLabel, amountUnits: bigint, token = TEST_TOKEN): RecordedTransfer => ({
    token,
    from: PAYERS[Number(amountUnits % 3n)] ?? "",
    to: intents[label].inbox_address,
    amountUnits,
  });
  const noise = { token: TEST_TOKEN, from: PAYERS[0] ?? "", to: PAYERS[1] ?? "", amountUnits: 9n };
  const sweep = (label: IntentLabel, grossUnits: bigint) => {
    const { inbox_address: from, payout_wallet: wallet } = intents[label];
    const fee = (grossUnits * FEE_BPS) / 10_000n;
    const legs = [{ token: TEST_TOKEN, from, to: wallet, amountUnits: grossUnits - fee }];
    return transaction(
      ...legs,
      ...(fee > 0n ? [{ token: TEST_TOKEN, from, to: FEE_RECIPIENT, amountUnits: fee }] : []),
    );
  };
  const late = transaction(to("oneTime", 10n));
  const moved = transaction(noise, to("repeatable", 7n));
  const strangers = sweep("repeatable", 12n);
  const never = transaction(to("under", 50n));
  return {
    before: [
      [transaction(to("oneTime", 400n)), transaction(to("dust", 600n))],
      [transaction(to("dust", 600n)), transaction(to("over", 750n))],
      [transaction(to("oneTime", 300n), noise, to("oneTime", 300n)), transaction(to("repeatable", 5n))],
      [transaction(to("dust", 300n)), transaction(to("under", 1_900n))],
      [sweep("oneTime", 1_000n), sweep("over", 750n)],
    ],
    left: [[moved, never], [strangers], [late]],
    // The same transactions in other blocks and another order. One returns only later, and one never.
    stayed: [[late], [], [transaction(noise), moved], [strangers]],
    afterwards: [
      [sweep("dust", 1_500n), transaction(to("repeatable", 20n), to("repeatable", 0n), to("repeatable", 21n))],
      [transaction(to("dust", 700n)), transaction(to("repeatable", 5n, OTHER_TOKEN))],
      [transaction(to("under", 99n)), transaction(to("over", 1n))],
      [transaction(to("dust", 200n))],
      [transaction(to("under", 1n)), transaction(to("under", 1n))],
      [sweep("under", 2_001n), sweep("oneTime", 10n)],
    ],
  };
}

/** Creates transaction hashes that no other history has. */
function createTxHashes(seed: string): { next(): string } {
  const prefix = Buffer.from(seed.slice(-20)).toString("hex");
  let count = 0;
  return { next: () => `0x${prefix}${(count += 1).toString(16).padStart(64 - prefix.length, "0")}` };
}
