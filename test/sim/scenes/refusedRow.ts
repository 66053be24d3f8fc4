import { tokenCalls } from "../chain/token.ts";
import { payerAddress } from "../simWorld.ts";
import { sceneCreate, shapeChains, CHAIN_FAULTS, type Scene } from "./scene.ts";

// The database refuses the deposit of one intent, in a batch with many others.

const INTENTS = 25;
const INTENTS_MIN = 18;
const REFUSED = 7;
/** The healthy ones are written in halves: one by one they would be as many writes as there are intents. */
const WRITES_MAX = 12;
const CREATED_MS = 30_000;

export const refusedRow: Scene = {
  name: "refusedRow",
  calm: [...CHAIN_FAULTS, "reorg", "crash", "crashInTransaction", "crashAfterCommit", "logsOmitted", "logsHidden"],
  shape: (plan) => {
    const shaped = shapeChains(plan, 1, () => ({ kind: "evm", agreement: undefined }));
    const creates = Array.from({ length: INTENTS }, (_, index) =>
      sceneCreate(index, { wallet: undefined, atMs: 20 * index, priceUnits: 7_000_003 }),
    );
    return { ...plan, ...shaped, creates: [...shaped.creates, ...creates] };
  },
  play: async (stage) => {
    await stage.sleep(CREATED_MS);
    const known = Array.from({ length: INTENTS }, (_, index) => stage.findIntent(index));
    const intents = known.filter((each) => each !== undefined);
    const refused = known[REFUSED] ?? intents[0];
    const { database } = stage.simWorld.parts;
    if (refused === undefined || intents.length < INTENTS_MIN) return;
    await stage.untilTrue(() => true, CREATED_MS);
    database.addTemporarily({
      add: [
        `create function refuse_deposit() returns trigger language plpgsql as $body$ begin
           if new.intent_id = '${refused.row.id}' then raise exception 'refused' using errcode = '23514'; end if; return new; end $body$`,
        "create trigger refuse_deposit before insert on deposit for each row execute function refuse_deposit()",
      ],
      remove: ["drop trigger refuse_deposit on deposit", "drop function refuse_deposit()"],
    });
    const calls = intents.map(({ row }) => ({
      to: row.payout_token,
      data: tokenCalls.transfer(row.inbox_address, 7_000_003n),
    }));
    const chainTx = refused.chain.chain.send({ from: payerAddress(0), calls });
    stage.trace(`pays ${intents.length} intents, one of which is refused`);
    await stage.sleepUntil(stage.chaosMs + 30_000);
    const writesText = `select seen_at from deposit where chain_tx = '${chainTx}' group by seen_at`;
    const writes = await stage.until(() => stage.rows(writesText).length, CREATED_MS);
    if (writes !== undefined && writes > WRITES_MAX)
      stage.violate("a refused row lets the others of its batch wait one by one", `${writes} writes`);
    await stage.untilTrue(() => (database.removeTemporary(), true), CREATED_MS);
  },
};
