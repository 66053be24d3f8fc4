import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { AWAY, HOME, newChainTx, newId, USDC, useCrossingStations } from "../../test/support/crossingStations.ts";
import { thoroughDatabase } from "../../test/support/database.ts";
import { suspendMints } from "../settlement/crossing/suspendMints.ts";
import { findBurns } from "./findBurns.ts";

describe("a mint in suspense that is gone for a while", () => {
  const stations = useCrossingStations(thoroughDatabase);
  const { create, work, burn, pay, record, minted, swept } = stations;
  const waitHours = () =>
    sql`update awaited_burn set unexplained_since = now() - interval '3 hours', next_at = now() - interval '1 minute'`.execute(
      stations.db.root,
    );

  test("lands with its crossing once its burn is known", async () => {
    const intent = await create();
    const [name, mintTx] = [`cctp-v2/1/0x${newId()}`, newChainTx()];
    const mint = (more = {}) => minted(name, [5n * USDC, 0n], { chainTx: mintTx, ...more });
    await record(intent, [mint()]);
    await work();
    await waitHours();
    await suspendMints(stations.world, HOME);
    await record(intent, [mint({ orphaned: true })]);
    await work();
    await waitHours();
    await findBurns(stations.world, { caip2: AWAY } as Parameters<typeof findBurns>[1]);
    deepEqual(await stations.db.root.selectFrom("awaited_burn").selectAll().execute(), []);
    const sweep = swept(intent, 5n * USDC, { chainTx: newChainTx(), block: 302n });
    await record(intent, [mint({ block: 301n, fork: "b" }), ...sweep]);
    await pay(intent, AWAY, 5n * USDC);
    const burnTx = await burn(intent, { amountUnits: 5n * USDC });
    await work();
    await stations.attest(burnTx, 1, name);
    await suspendMints(stations.world, HOME);
    await work();
    const settlements = await stations.settlementsOf(intent);
    deepEqual(
      settlements.filter(({ chain }) => chain === AWAY).map(({ status }) => status),
      ["landed"],
    );
  });
});
