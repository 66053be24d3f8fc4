import type { Chain } from "../../chain/chain.ts";
import { SettleRefused } from "../../chain/sender.ts";
import { warnRepeated } from "../../kernel/alarm/repeatedWarning.ts";
import { addMs, DAY_MS } from "../../kernel/clock.ts";
import type { World } from "../../world.ts";
import { claimRents, deleteRent, type RentBurn } from "./rentStore.ts";

type RentWorld = Pick<World, "db" | "clock" | "log">;

/** Burns looked at per call. */
const CLAIMED_MAX = 20;
const AGAIN_MS = DAY_MS;
/** What has not returned by then, such as that of a transaction which no node has kept, is given up. */
const GIVEN_UP_MS = 60 * DAY_MS;

/**
 * Asks for the rent of burns' messages on a chain that locks some. Each is looked at again a day later, and forgotten
 * once nothing is locked. Returns the number of transactions signed.
 */
export async function reclaimRent(world: RentWorld, chain: Chain): Promise<number> {
  if (chain.sender.bridge?.prepareReclaim === undefined) return 0;
  const at = world.clock.now();
  const claim = { chain: chain.caip2, at, claimedUntil: addMs(at, AGAIN_MS), limit: CLAIMED_MAX };
  let signed = 0;
  for (const burn of await claimRents(world.db, claim)) signed += (await reclaim(world, chain, burn)) ? 1 : 0;
  return signed;
}

async function reclaim(world: RentWorld, { caip2, sender }: Chain, burn: RentBurn): Promise<boolean> {
  const { movement_id: movementId, chain_tx: chainTx, message, attestation } = burn;
  const forget = () => deleteRent(world.db, movementId);
  if (addMs(burn.created_at, GIVEN_UP_MS) <= world.clock.now()) {
    await forget();
    return false;
  }
  try {
    const prepared = await sender.bridge?.prepareReclaim?.(world, { chainTx, message, attestation });
    if (prepared === "none") await forget();
    if (prepared === undefined || prepared === "none") return false;
    await world.db.transaction((tx) => prepared.store(tx, world.clock.now()));
    return true;
  } catch (error) {
    if (!(error instanceof SettleRefused)) throw error;
    warnRepeated(world, {
      key: `rent ${movementId}`,
      fields: { chain: caip2, intent: burn.intent_id, chainTx, err: error },
      message: "the rent of a burn's message does not return yet; it is asked for again in a day",
    });
    return false;
  }
}
