import { openChain, type Chain } from "../../src/chain/chain.ts";
import { openGasAccount } from "../../src/chain/evm/gasAccount.ts";
import type { Db } from "../../src/db/database.ts";
import { countDeposits } from "../../src/deposit/countDeposits.ts";
import { takeMovements } from "../../src/deposit/takeMovements.ts";
import { caip2, type Caip2 } from "../../src/kernel/caip.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { observeSettlements } from "../../src/settlement/observeSettlements.ts";
import { planSettlements } from "../../src/settlement/planSettlements.ts";
import { recordView } from "../../src/view/recordView.ts";
import { rescanChainTx, rescanIntent, type RescanWorld } from "../../src/watch/rescan.ts";
import { watchChain } from "../../src/watch/watchChain.ts";
import { addHistory, type History } from "./history.ts";
import { insertAccount } from "./intents.ts";
import { stationWorld, type StationWorld } from "./stationWorld.ts";

// One service, or several, hearing a history in whatever way a test wants: which tip is shown when, who looks, which station
// works, who starts anew. What was heard in the end is the same, and the books have to be the same with it.

/** After the last block everything is looked at this often at most before the books must be at rest. */
const LOOKS_MAX = 60;

type Listener = { world: StationWorld & RescanWorld; chain: Chain };

export type Hearing = {
  history: History;
  /** Shows the chain as it was after so many of its blocks were heard of: a place in `history.tips`. */
  show: (place: number) => void;
  /** Lets the watch station look, and look again while more is waiting. */
  look: () => Promise<void>;
  /** One turn of the deposit station, and one of the settlement station. */
  take: () => Promise<void>;
  count: () => Promise<void>;
  settle: () => Promise<void>;
  /** A look and all stations after it. */
  turn: () => Promise<void>;
  /** Everything remembered outside the database is gone. */
  restart: () => void;
  /** The next turn is another process's. */
  alternate: () => void;
  /** Both processes look and work at the same time. */
  together: () => Promise<void>;
  /** The watcher forgets the last blocks, and both stations all that they took over. */
  rewind: (blocks: number) => Promise<void>;
  /** A person has every transaction and every inbox read again. */
  rescan: () => Promise<void>;
  /** A payer looks at each inbox, and a provider tells of each transaction. */
  hint: () => Promise<void>;
  /** Shows the last tip and turns until nothing more happens. */
  finish: () => Promise<void>;
};

let chainCount = 0;

/** A history of its own, on a chain and with intents that no other hearing in this database has. */
export async function beginHearing(db: Db): Promise<Hearing> {
  chainCount += 1;
  const name = caip2("eip155", String(700_000 + chainCount));
  const history = await addHistory(db, { chain: name, accountId: await insertAccount(db) });
  const { tape } = history;
  let [now, other] = [listen(db, { name, history }), listen(db, { name, history })];
  await watchChain(now.world, now.chain);

  const lookWith = async ({ world, chain }: Listener) => {
    for (let looks = 0; looks < LOOKS_MAX && (await watchChain(world, chain)).isBehind; looks += 1);
  };
  const takeWith = async ({ world }: Listener) => {
    for (let takes = 0; takes < LOOKS_MAX && !(await takeMovements(world, name)).isDone; takes += 1);
  };
  const settleWith = async ({ world }: Listener) => {
    await observeSettlements(world, name);
    await planSettlements(world, name);
  };
  const turnWith = async (listener: Listener) => {
    await lookWith(listener);
    await takeWith(listener);
    await countDeposits(listener.world, name);
    await settleWith(listener);
  };
  const rescan = async () => {
    for (const chainTx of history.chainTxs) await rescanChainTx(now.world, { chainTx });
    for (const intent of history.intents) await rescanIntent(now.world, intent.id);
  };
  return {
    history,
    show: (place) => tape.show(history.tips[place] ?? history.lastTip),
    look: () => lookWith(now),
    take: () => takeWith(now),
    count: () => countDeposits(now.world, name),
    settle: () => settleWith(now),
    turn: () => turnWith(now),
    restart: () => void (now = listen(db, { name, history })),
    alternate: () => void ([now, other] = [other, now]),
    together: async () => {
      await Promise.all([turnWith(now), turnWith(other)]);
    },
    rewind: (blocks) => rewind(db, name, blocks),
    rescan,
    hint: async () => {
      for (const intent of history.intents) await recordView(now.world, intent);
      for (const chainTx of history.chainTxs) await rescanChainTx(now.world, { chainTx });
    },
    finish: async () => {
      tape.isWithholding = false;
      tape.show(history.lastTip);
      let before = "";
      for (let turns = 0; turns < LOOKS_MAX; turns += 1) {
        await turnWith(now);
        const after = await progressOf(db, name);
        if (after === before) return;
        before = after;
      }
      throw new Error("the books never came to rest");
    },
  };
}

function listen(db: Db, { name, history }: { name: Caip2; history: History }): Listener {
  // A copy of the handle is another process as far as memory goes: what is remembered is kept for each handle and each chain.
  const handle = { ...db };
  const base = stationWorld(handle, { caip2: name, chainId: history.chainId, tokens: history.tokens });
  const gasAccount = openGasAccount(`0x${"11".repeat(32)}`);
  const chain = openChain({ drivers: [history.tape], gasAccount }, base);
  return { chain, world: { ...base, wake: createWake(base.clock), chains: new Map([[name, chain]]) } };
}

async function rewind(db: Db, chain: Caip2, blocks: number): Promise<void> {
  const cursor = await db.read
    .selectFrom("chain_cursor")
    .selectAll()
    .where("chain", "=", chain)
    .executeTakeFirstOrThrow();
  const earlier = await db.read
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
    await db.read.deleteFrom("block").where("chain", "=", chain).where("number", ">", earlier.number).execute();
    await db.read
      .updateTable("chain_cursor")
      .set({ ...earlier, ...reread })
      .where("chain", "=", chain)
      .execute();
  }
  await db.read
    .updateTable("deposit_cursor")
    .set({ revision: 0n, movement_id: 0n })
    .where("chain", "=", chain)
    .execute();
  await db.read
    .updateTable("settlement_cursor")
    .set({ revision: 0n, movement_id: 0n })
    .where("chain", "=", chain)
    .execute();
}

/** What changes with every step towards rest, as text. */
async function progressOf(db: Db, chain: Caip2): Promise<string> {
  const [cursor, deposits, settlements] = await Promise.all([
    db.read
      .selectFrom("chain_cursor")
      .select(["number", "revision", "reread_number"])
      .where("chain", "=", chain)
      .execute(),
    db.read
      .selectFrom("deposit")
      .select(["id", "status", "settlement_id"])
      .where("chain", "=", chain)
      .orderBy("id")
      .execute(),
    db.read.selectFrom("settlement").select(["id", "status"]).where("chain", "=", chain).orderBy("id").execute(),
  ]);
  return [...cursor, ...deposits, ...settlements].map((row) => Object.values(row).join(" ")).join("\n");
}
