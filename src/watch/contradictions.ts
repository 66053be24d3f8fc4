import { sql } from "kysely";
import type { Chain } from "../chain/chain.ts";
import { array } from "../db/parameters.ts";
import type { World } from "../world.ts";
import { memoryOf } from "./memory.ts";
import { identityOf, type MovementRow, type Sighting } from "./movement.ts";
import { agreedNumber } from "./store.ts";
import { testify } from "./testimony.ts";

/** How long one rests whom the others contradict. */
const ASIDE_MS = 600_000;
/** Between two questions about one chain: who goes on to contradict must not hold up everything else. */
const PAUSE_MS = 60_000;

/**
 * Called when not all that was seen has been written. A movement that stands in a block which was agreed on stays there, whatever a new
 * block is said to hold: only a reorg that takes its block back, or another reading of final blocks, changes it. All providers are asked
 * for it then, and whoever tells otherwise rests where more of them confirm it.
 */
export async function judgeContradictions(
  world: Pick<World, "db" | "log" | "clock">,
  chain: Chain,
  sightings: readonly Sighting[],
): Promise<void> {
  const memory = memoryOf(chain, world.clock);
  const nowMs = world.clock.monotonicMs();
  if (nowMs < memory.judgedAtMs + PAUSE_MS) return;
  const contradicted = await listContradicted(world, chain, sightings);
  const [movement] = contradicted;
  if (movement === undefined) return;
  memory.judgedAtMs = nowMs;
  const said = await chain.providers.askEach((driver) => testify(driver, movement, []), "awake");
  const whoSays = (verdict: "confirms" | "denies") =>
    said.flatMap((each) => ("answer" in each && each.answer.verdict === verdict ? [each.provider] : []));
  const [confirming, denying] = [whoSays("confirms"), whoSays("denies")];
  if (confirming.length > denying.length) for (const provider of denying) chain.providers.setAside(provider, ASIDE_MS);
  world.log.error(
    {
      alarm: "final_contradicted",
      chain: chain.caip2,
      movements: contradicted.map(({ id }) => String(id)),
      chainTx: movement.chain_tx,
      confirming,
      denying,
    },
    "a provider tells movements otherwise that are final, and they stay as they are",
  );
}

/** What stands in blocks that were agreed on, and is not as it was seen. */
async function listContradicted(
  { db }: Pick<World, "db">,
  { caip2 }: Chain,
  sightings: readonly Sighting[],
): Promise<MovementRow[]> {
  const chainTxs = sightings.map((one) => one.chainTx);
  const { rows } = await sql<MovementRow>`
    select * from movement where chain = ${caip2} and chain_tx = any(${array(chainTxs, "text")})
      and orphaned_at is null and block_number <= ${agreedNumber(caip2)}`.execute(db.read);
  const seen = new Map(sightings.map((sighting) => [identityOf(sighting), sighting]));
  return rows.filter((row) => {
    const sighting = seen.get(identityOf({ ...row, chainTx: row.chain_tx }));
    return sighting !== undefined && !isAsSeen(row, sighting);
  });
}

function isAsSeen(row: MovementRow, seen: Sighting): boolean {
  const isInPlace = row.block_hash === seen.blockHash && row.log_index === seen.logIndex;
  return isInPlace && row.amount_units === seen.amountUnits && row.counterparty === seen.counterparty;
}
