import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import type { Chain } from "../../src/chain/chain.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import type { Db } from "../../src/db/database.ts";
import { processMovements } from "../../src/deposit/processMovements.ts";
import { caip2, type Caip2 } from "../../src/kernel/caip.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { observeSettlements } from "../../src/settlement/observe/observeSettlements.ts";
import { planSettlements } from "../../src/settlement/planSettlements.ts";
import { registerView } from "../../src/view/registerView.ts";
import { rescanChainTx, rescanIntent, type RescanWorld } from "../../src/watch/reread/rescan.ts";
import { watchChain } from "../../src/watch/follow/watchChain.ts";
import { watchNow } from "./watchNow.ts";
import { createChainHistory, type ChainHistory } from "./chainHistory.ts";
import { insertAccount } from "./intents.ts";
import { stationWorld, type StationWorld } from "./stationWorld.ts";
import { countMoney } from "./countMoney.ts";

// One or two processes replay a recorded history in any order of tips, polls, station runs and restarts. The final
// state must be the same each time.

/** The most rounds after the last block until the state must stop changing. */
const ROUNDS_MAX = 60;

type ReplayProcess = { world: StationWorld & RescanWorld; chain: Chain };

export type ReplayHarness = {
  history: ChainHistory;
  /** Shows the chain at an index of `history.tips`. */
  showTip: (place: number) => void;
  /** Polls, and polls again while more blocks wait. */
  watch: () => Promise<void>;
  /** Runs the deposit station once, then the settlement station once. */
  takeMovements: () => Promise<void>;
  countDeposits: () => Promise<void>;
  settle: () => Promise<void>;
  /** Polls, then runs all stations after it. */
  tick: () => Promise<void>;
  /** Replaces the process, so that only the database remains. */
  restart: () => void;
  /** Runs the next calls in the other process. */
  switchProcess: () => void;
  /** Runs both processes at the same time. */
  tickConcurrently: () => Promise<void>;
  /** Moves the watcher back by some blocks, and both stations to their beginning. */
  rewind: (blocks: number) => Promise<void>;
  /** Rescans every transaction and every inbox, as an operator can. */
  rescan: () => Promise<void>;
  /** Sends a hint for each inbox, as a payer's page does, and for each transaction, as a provider does. */
  sendHints: () => Promise<void>;
  /** Shows the last tip and runs until the state stops changing. */
  runToEnd: () => Promise<void>;
};

let chainCount = 0;

/** Creates a history with a chain and intents that no other harness in this database has. */
export async function createReplayHarness(db: Db): Promise<ReplayHarness> {
  chainCount += 1;
  const name = caip2("eip155", String(700_000 + chainCount));
  const history = await createChainHistory(db, { chain: name, accountId: await insertAccount(db) });
  const { recordedChain } = history;
  let [current, other] = [createReplayProcess(db, { name, history }), createReplayProcess(db, { name, history })];
  await watchChain(current.world, current.chain);

  const watchWith = async ({ world, chain }: ReplayProcess, poll = watchChain) => {
    for (let rounds = 0; rounds < ROUNDS_MAX && (await poll(world, chain)).isBehind; rounds += 1);
  };
  const takeWith = async ({ world }: ReplayProcess) => {
    for (let rounds = 0; rounds < ROUNDS_MAX && !(await processMovements(world, name)).isDone; rounds += 1);
  };
  const settleWith = async ({ world }: ReplayProcess) => {
    await observeSettlements(world, name);
    await planSettlements(world, name);
  };
  const tickWith = async (listener: ReplayProcess, poll = watchChain) => {
    await watchWith(listener, poll);
    await takeWith(listener);
    await countMoney(listener.world, name);
    await settleWith(listener);
  };
  const rescan = async () => {
    for (const chainTx of history.chainTxs) await rescanChainTx(current.world, { chainTx });
    for (const intent of history.intents) await rescanIntent(current.world, intent.id);
  };
  return {
    history,
    showTip: (place) => recordedChain.setTip(history.tips[place] ?? history.lastTip),
    watch: () => watchWith(current),
    takeMovements: () => takeWith(current),
    countDeposits: () => countMoney(current.world, name),
    settle: () => settleWith(current),
    tick: () => tickWith(current),
    restart: () => void (current = createReplayProcess(db, { name, history })),
    switchProcess: () => void ([current, other] = [other, current]),
    tickConcurrently: async () => {
      await Promise.all([tickWith(current), tickWith(other)]);
    },
    rewind: (blocks) => rewind(db, name, blocks),
    rescan,
    sendHints: async () => {
      for (const intent of history.intents) await registerView(current.world, intent);
      for (const chainTx of history.chainTxs) await rescanChainTx(current.world, { chainTx });
    },
    runToEnd: async () => {
      recordedChain.omitsLogs = false;
      recordedChain.setTip(history.lastTip);
      let before = "";
      for (let rounds = 0; rounds < ROUNDS_MAX; rounds += 1) {
        // The state is at rest once finality and final blocks have been read too, whatever time that takes.
        await tickWith(current, watchNow);
        const after = await progressSnapshot(db, name);
        if (after === before) return;
        before = after;
      }
      throw new Error("the state never stopped changing");
    },
  };
}

function createReplayProcess(db: Db, { name, history }: { name: Caip2; history: ChainHistory }): ReplayProcess {
  const base = stationWorld(db, { caip2: name, chainId: history.chainId, tokens: history.tokens });
  const gasAccount = openGasAccount(`0x${"11".repeat(32)}`);
  const chain = createEvmChain({ nodes: [history.recordedChain], gasAccount }, base);
  return { chain, world: { ...base, wake: createWake(base.clock), chains: new Map([[name, chain]]) } };
}

async function rewind(db: Db, chain: Caip2, blocks: number): Promise<void> {
  const cursor = await db.root
    .selectFrom("chain_cursor")
    .selectAll()
    .where("chain", "=", chain)
    .executeTakeFirstOrThrow();
  const earlier = await db.root
    .selectFrom("block")
    .select(["number", "hash"])
    .where("chain", "=", chain)
    .where("orphaned_at", "is", null)
    .where("number", "<=", cursor.number - BigInt(blocks))
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  if (earlier) {
    const reread = earlier.number < cursor.reread_number ? { reread_number: earlier.number } : {};
    await db.root.deleteFrom("block").where("chain", "=", chain).where("number", ">", earlier.number).execute();
    await db.root
      .updateTable("chain_cursor")
      .set({ ...earlier, ...reread })
      .where("chain", "=", chain)
      .execute();
  }
  await db.root
    .updateTable("deposit_cursor")
    .set({ revision: 0n, movement_id: 0n })
    .where("chain", "=", chain)
    .execute();
  await db.root
    .updateTable("settlement_cursor")
    .set({ revision: 0n, movement_id: 0n })
    .where("chain", "=", chain)
    .execute();
}

/** All values that change until the state is at rest, as text. */
async function progressSnapshot(db: Db, chain: Caip2): Promise<string> {
  const [cursor, deposits, holdings, settlements] = await Promise.all([
    db.root
      .selectFrom("chain_cursor")
      .select(["number", "revision", "reread_number"])
      .where("chain", "=", chain)
      .execute(),
    db.root
      .selectFrom("deposit")
      .select(["id", "status", "settlement_id"])
      .where("chain", "=", chain)
      .orderBy("id")
      .execute(),
    db.root.selectFrom("holding").selectAll().where("chain", "=", chain).orderBy("intent_id").execute(),
    db.root.selectFrom("settlement").select(["id", "status"]).where("chain", "=", chain).orderBy("id").execute(),
  ]);
  return [...cursor, ...deposits, ...holdings, ...settlements].map((row) => Object.values(row).join(" ")).join("\n");
}
