import { deepEqual } from "node:assert/strict";
import { describe, test } from "node:test";
import { sql } from "kysely";
import { AWAY, HEAD, newChainTx, USDC, useCrossingStations } from "../../../test/support/crossingStations.ts";
import { thoroughDatabases } from "../../../test/support/database.ts";
import type { IntentRow } from "../../intent/store.ts";

// A bridge takes only so much in one burn, and anybody can burn. What is left is bridged without a further deposit.

for (const kind of thoroughDatabases) {
  describe(`a burn that leaves money in its inbox on ${kind}`, () => {
    const stations = useCrossingStations(kind);
    const { record, create, settlementsOf, assertChecks, work, pay, burn } = stations;
    const statesOf = async (intent: IntentRow) => (await settlementsOf(intent)).map(({ status }) => status);
    const unsweptOf = async ({ id }: IntentRow) =>
      (await stations.db.root.selectFrom("holding").select("unswept_units").where("intent_id", "=", id).execute()).map(
        ({ unswept_units }) => Number(unswept_units),
      );

    test("the rest of a stranger's burn is planned at once, and again after each piece, until nothing is left", async () => {
      const intent = await create();
      await pay(intent, AWAY, 25n * USDC);
      await work();
      await burn(intent, { amountUnits: 10n * USDC, block: 200n });
      await work();
      deepEqual(await statesOf(intent), ["bridging", "planned"]);
      deepEqual(await unsweptOf(intent), [15_000_000]);
      await assertChecks();
      await burn(intent, { amountUnits: 10n * USDC, block: 210n });
      await work();
      deepEqual(await statesOf(intent), ["bridging", "bridging", "planned"]);
      await burn(intent, { amountUnits: 5n * USDC, block: 220n });
      await work();
      deepEqual(await statesOf(intent), ["bridging", "bridging", "bridging"]);
      deepEqual(await unsweptOf(intent), [0]);
      await assertChecks();
    });

    test("several burns that are observed together leave what the last one left", async () => {
      const intent = await create();
      await pay(intent, AWAY, 25n * USDC);
      await work();
      const chainTx = newChainTx();
      const taken = { chain: AWAY, direction: "out" as const, crossing: { crossingName: "cctp-v2/0", feeUnits: 0n } };
      await record(intent, [
        { ...taken, chainTx, block: 200n, position: 0, place: 10, amountUnits: 8n * USDC },
        { ...taken, chainTx, block: 200n, position: 1, place: 11, amountUnits: 8n * USDC },
        { ...taken, chainTx: newChainTx(), block: 201n, amountUnits: 8n * USDC },
      ]);
      await work();
      deepEqual(await statesOf(intent), ["bridging", "bridging", "bridging", "planned"]);
      deepEqual(await unsweptOf(intent), [1_000_000]);
      await assertChecks();
    });

    test("a rest that is not counted waits until it counts", async () => {
      const intent = await create();
      const chainTx = newChainTx();
      // Above the last block, so it is not final.
      await record(intent, [{ chain: AWAY, chainTx, amountUnits: 25n * USDC, block: HEAD + 1n }]);
      await work();
      await burn(intent, { amountUnits: 10n * USDC, block: HEAD + 2n });
      await work();
      deepEqual(await statesOf(intent), ["bridging"]);
      deepEqual(await unsweptOf(intent), [0]);
      await assertChecks();
      await record(intent, [{ chain: AWAY, chainTx, amountUnits: 25n * USDC, block: 100n }]);
      await work();
      deepEqual(await statesOf(intent), ["bridging", "planned"]);
      deepEqual(await unsweptOf(intent), [15_000_000]);
    });

    test("a deposit that is found after the burn adds to the rest, and one that the chain drops takes its part away", async () => {
      const intent = await create();
      await pay(intent, AWAY, 10n * USDC);
      await work();
      await burn(intent, { amountUnits: 10n * USDC });
      await work();
      deepEqual(await statesOf(intent), ["bridging"]);
      const late = { chain: AWAY, chainTx: newChainTx(), amountUnits: 7n * USDC, block: 150n };
      await record(intent, [late]);
      await work();
      deepEqual(await unsweptOf(intent), [7_000_000]);
      deepEqual(await statesOf(intent), ["bridging", "planned"]);
      await assertChecks();
      await record(intent, [{ ...late, orphaned: true }]);
      await work();
      deepEqual(await unsweptOf(intent), [0]);
      await assertChecks();
    });

    test("a rest from before the service stored any is found when the intent's burns are processed again", async () => {
      const intent = await create();
      await pay(intent, AWAY, 25n * USDC);
      await work();
      await burn(intent, { amountUnits: 10n * USDC });
      await work();
      await sql`delete from settlement where intent_id = ${intent.id} and status = 'planned'`.execute(stations.db.root);
      await sql`
        update holding set rest_block = null, rest_place = null, rest_since = null, rest_units = 0, rest_counted_units = 0, unswept_units = 0, unswept_since = null,
          due_from = null
        where intent_id = ${intent.id}`.execute(stations.db.root);
      await sql`
        insert into quarantine (station, chain, intent_id, revision, movement_id, reason, attempts, since, retry_at)
        select 'settlement', chain, intent_id, max(revision) - 1, 0, 'upgrade', 1, min(seen_at), min(seen_at)
        from movement where intent_id = ${intent.id} and direction = 'out' group by chain, intent_id`.execute(
        stations.db.root,
      );
      await work();
      deepEqual(await statesOf(intent), ["bridging", "planned"]);
      deepEqual(await unsweptOf(intent), [15_000_000]);
      await assertChecks();
    });

    test("a reorganisation that drops the burn gives the deposits back", async () => {
      const intent = await create();
      await pay(intent, AWAY, 25n * USDC);
      await work();
      const chainTx = await burn(intent, { amountUnits: 10n * USDC });
      await work();
      await burn(intent, { amountUnits: 10n * USDC, chainTx, orphaned: true });
      await work();
      deepEqual(await unsweptOf(intent), [25_000_000]);
      await assertChecks();
    });
  });
}
