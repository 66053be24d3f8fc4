import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pino } from "pino";
import { listEventsOf } from "../../../test/support/events.ts";
import { openTestDatabase } from "../../../test/support/database.ts";
import { insertIntent, TEST_CHAIN } from "../../../test/support/intents.ts";
import { recordMovements, setHead } from "../../../test/support/movements.ts";
import { stationWorld } from "../../../test/support/stationWorld.ts";
import type { Chain } from "../../chain/chain.ts";
import { Providers } from "../../chain/providers.ts";
import type { ChainReader } from "../../chain/reader.ts";
import type { Db } from "../../db/database.ts";
import { createWake } from "../../kernel/wake.ts";
import { runChecks } from "../../ledger/check.ts";
import { depositChecks } from "../checks.ts";
import { processMovements } from "../processMovements.ts";
import { sumDust } from "../sumDust.ts";
import { verifyDust } from "./verifyDust.ts";

// Stub providers report chosen balances, because the rule depends on their disagreement.

const CENT = 10_000n;
let txCount = 0;

describe("dust above the single-provider limit", () => {
  let db: Db;
  before(async () => {
    db = await openTestDatabase("postgres");
  });
  after(() => db.close());

  /** An inbox with dust worth one cent, whose two providers report these balances. */
  async function setUp(balances: bigint[], abovePriceUnits: bigint, priceUnits: bigint | null = null) {
    const clock = {
      ms: 0,
      now: () => new Date(1_800_000_000_000 + clock.ms),
      monotonicMs: () => clock.ms,
      sleep: async () => {},
    };
    const lines: string[] = [];
    const log = pino({ level: "error" }, { write: (line: string) => void lines.push(line) });
    const station = stationWorld(db, { agreement: { providers: 2, abovePriceUnits } });
    const world = { ...station, clock, log, wake: createWake(clock) };
    const readers = balances.map((_, index) => ({
      caip2: TEST_CHAIN,
      name: `stub-${index}`,
      identify: async () => ({ caip2: TEST_CHAIN, genesisHash: "0x00" }),
      balances: async (_token: string, owners: readonly string[]) => owners.map(() => balances[index] ?? 0n),
    }));
    const chain = {
      caip2: TEST_CHAIN,
      providers: new Providers(readers as unknown as [ChainReader, ...ChainReader[]], { clock, log }),
    } as unknown as Chain;
    await setHead(db, TEST_CHAIN, { number: 100n });
    const intent = await insertIntent(db, {
      minimum_units: CENT,
      price_token_units: priceUnits,
      one_time: priceUnits !== null,
    });
    const chainTx = `0xe0${(txCount += 1).toString(16).padStart(62, "0")}`;
    const dust = Array.from({ length: 20 }, (_, position) => ({ chainTx, position, amountUnits: 500n, block: 90n }));
    await recordMovements(db, intent, dust);
    await processMovements(world, TEST_CHAIN);
    await sumDust(world, TEST_CHAIN);
    const counted = async () => {
      const row = await db.root.selectFrom("intent").selectAll().where("id", "=", intent.id).executeTakeFirstOrThrow();
      return row.counted_units;
    };
    return { intent, chainTx, clock, world, chain, counted, lines };
  }

  test("below the limit dust counts on one provider's word", async () => {
    const { counted } = await setUp([0n, 0n], CENT);
    assert.equal(await counted(), CENT);
  });

  test("above the limit it counts once enough providers report a balance that contains it", async () => {
    const balances = [CENT, 0n];
    const { clock, world, chain, counted, lines } = await setUp(balances, 0n);
    assert.equal(await counted(), 0n);
    await verifyDust(world, chain);
    assert.equal(await counted(), 0n);
    assert.match(lines.join(), /"alarm":"provider_disagreement"/);
    balances[1] = CENT;
    assert.equal(await verifyDust(world, chain), 0);
    clock.ms += 60_000;
    assert.equal(await verifyDust(world, chain), 1);
    assert.equal(await counted(), CENT);
  });

  for (const [what, limit] of [
    ["the limit", 0n],
    ["a limit that only twice the dust exceeds", CENT + 5_000n],
  ] as const)
    test(`what was found late in counted blocks waits for the providers above ${what}, and reopens nothing`, async () => {
      const balances = [2n * CENT, 2n * CENT];
      const { intent, chainTx, world, chain, clock, counted } = await setUp(balances, limit, CENT);
      await verifyDust(world, chain);
      assert.equal(await counted(), CENT);
      balances.fill(0n);
      await recordMovements(db, intent, [{ chainTx, position: 99, amountUnits: 1n, block: 90n }]);
      await processMovements(world, TEST_CHAIN);
      await sumDust(world, TEST_CHAIN);
      const status = async () =>
        (await db.root.selectFrom("intent").select("status").where("id", "=", intent.id).executeTakeFirstOrThrow())
          .status;
      await verifyDust(world, chain);
      assert.deepEqual([await counted(), await status()], [CENT + (limit === 0n ? 0n : 1n), "settled"]);
      assert.deepEqual(await runChecks(db, depositChecks), []);
      balances.fill(2n * CENT);
      clock.ms += 60_000;
      await verifyDust(world, chain);
      assert.deepEqual([await counted(), await status()], [CENT + 1n, "settled"]);
      const types = (await listEventsOf(db, intent.id)).map(({ type }) => type);
      assert.deepEqual(
        types.filter((type) => /dropped|reopened|reversed/.test(type)),
        [],
      );
      assert.deepEqual(await runChecks(db, depositChecks), []);
    });
});
