import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { AWAY, HEAD, newChainTx, USDC, useCrossingStations } from "../../../test/support/crossingStations.ts";
import { thoroughDatabases } from "../../../test/support/database.ts";
import { runChecks } from "../../ledger/check.ts";
import { settlementChecks } from "../checks.ts";

// The ledger books what the chain shows. A settlement above the single-provider limit waits for the other providers'
// word.

for (const kind of thoroughDatabases) {
  describe(`a burn above the limit of a single provider on ${kind}`, () => {
    const stations = useCrossingStations(kind, { agreement: { providers: 2, abovePriceUnits: 10n * USDC } });
    const found = async () => (await runChecks(stations.db, settlementChecks)).map(({ check, rows }) => [check, rows]);

    test("is no money without a settlement while its providers are asked", async () => {
      const intent = await stations.create();
      const block = HEAD + 1n;
      await stations.record(intent, [{ chain: AWAY, chainTx: newChainTx(), amountUnits: 12n * USDC, block }]);
      await stations.bookLatest(AWAY, HEAD + 2n);
      await stations.burn(intent, { amountUnits: 12n * USDC, block: HEAD + 2n });
      await stations.bookLatest(AWAY, HEAD + 2n);
      await stations.work();
      deepEqual(await stations.settlementsOf(intent), []);
      deepEqual(await found(), []);
      // Without the question nothing says when it is to land.
      await sql`delete from sweep_agreement where intent_id = ${intent.id}`.execute(stations.db.root);
      deepEqual(await found(), [["bridge-balance-has-settlement", [{ account: "bridge:cctp-v2", units: 12n * USDC }]]]);
    });

    test("is asked for no longer once another block holds it that was read twice", async () => {
      const intent = await stations.create();
      await stations.pay(intent, AWAY, 13n * USDC);
      const burnTx = await stations.burn(intent, { amountUnits: 13n * USDC, block: HEAD + 3n });
      await stations.work();
      const asked = () =>
        stations.db.root.selectFrom("sweep_agreement").select("state").where("intent_id", "=", intent.id).execute();
      deepEqual(await asked(), [{ state: "asking" }]);
      await stations.burn(intent, { chainTx: burnTx, amountUnits: 13n * USDC, block: HEAD - 1n });
      await stations.work();
      deepEqual(
        (await stations.settlementsOf(intent)).map(({ status }) => status),
        ["bridging"],
      );
      deepEqual(await asked(), []);
    });

    test("that was agreed is unconfirmed again once it changes", async () => {
      const intent = await stations.create();
      await stations.pay(intent, AWAY, 30n * USDC);
      const burnTx = await stations.burn(intent, { amountUnits: 11n * USDC, block: HEAD + 4n });
      await stations.work();
      await sql`update sweep_agreement set state = 'agreed', retry_at = null where intent_id = ${intent.id}`.execute(
        stations.db.root,
      );
      await stations.burn(intent, { chainTx: burnTx, amountUnits: 29n * USDC, block: HEAD + 5n });
      await stations.work();
      deepEqual(await stations.settlementsOf(intent), []);
    });
  });
}
