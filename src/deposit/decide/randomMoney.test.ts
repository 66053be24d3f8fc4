import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { openTestDatabase } from "../../../test/support/database.ts";
import { openScriptedRoads, type RoadChain, type ScriptedRoads } from "../../../test/support/scriptedRoads.ts";
import { SeededRandom } from "../../../test/sim/seededRandom.ts";
import type { FinalityTier } from "../../config/config.ts";
import type { Db } from "../../db/database.ts";
import { remainingUnits } from "../../intent/progress/remainingUnits.ts";
import type { IntentRow } from "../../intent/store.ts";
import { lastFinalBlock } from "../../watch/finality.ts";
import { listHeads } from "../store.ts";

// Random money on three chains, with reorganisations and loops that run in any order. Nothing counts before its rule
// over all chains holds, and whoever pays what remains is paid.

const SEED_FIRST = Number(process.env["TRIBUTARY_MONEY_FIRST"] ?? 1);
const SEEDS = Number(process.env["TRIBUTARY_MONEY_SEEDS"] ?? 1);
const INTENTS = 50;
const ROUNDS = 24;
const USDC = 1_000_000n;
const FINALIZED = 8;
const MINIMUM = USDC;

for (let seed = SEED_FIRST; seed < SEED_FIRST + SEEDS; seed += 1) {
  describe(`random money ${seed}`, () => {
    const random = new SeededRandom(`money ${seed}`);
    let db: Db;
    let roads: ScriptedRoads;
    let chains: readonly RoadChain[];
    const intents: IntentRow[] = [];
    before(async () => {
      db = await openTestDatabase("postgres");
      const finality = (): FinalityTier[] => [
        { upToPriceUnits: BigInt(random.between(5, 40)) * USDC, finality: { confirmations: random.between(1, 3) } },
        { upToPriceUnits: 100n * USDC, finality: { tag: "safe" } },
        { upToPriceUnits: undefined, finality: { tag: "finalized" } },
      ];
      const options = [0, 1, 2].map(() => ({ finality: finality(), finalized: FINALIZED, minimumUnits: MINIMUM }));
      roads = await openScriptedRoads(db, { chains: options, toleranceBps: random.pick([0, 0, 100] as const) });
      ({ chains } = roads);
      for (let index = 0; index < INTENTS; index += 1) {
        const payout = {
          payoutChainReference: "31337",
          payoutTokenAddress: chains[0]?.usdc ?? "",
          payoutWallet: `0x${String(index + 1).padStart(40, "a")}`,
        };
        intents.push(await roads.create({ ...payout, priceUnits: random.between(1, 90) * 700_001, oneTime: true }));
      }
    });
    after(() => db.close());

    function pick<T>(list: readonly T[]): T {
      const picked = random.pick(list);
      assert(picked !== undefined);
      return picked;
    }
    const exposed = async () =>
      (
        await sql<{
          id: string;
          intent: string;
          chain: string;
          block: bigint;
          units: bigint;
          status: string;
          behind: boolean;
        }>`
          select deposit.id, deposit.intent_id as intent, deposit.chain, deposit.block_number as block, amount_units as units, status,
            exists (select from movement join deposit_cursor cursor on cursor.chain = movement.chain
              where movement.intent_id = deposit.intent_id and movement.chain = deposit.chain and movement.direction = 'in'
                and (movement.revision, movement.id) > (cursor.revision, cursor.movement_id)) as behind
          from deposit where status in ('seen', 'confirmed', 'counted')`.execute(db.root)
      ).rows;

    /** Runs a step of one chain, and checks what it counted by a second computation of the rule. */
    async function decide(chain: RoadChain): Promise<void> {
      const counted = new Set((await exposed()).filter(({ status }) => status === "counted").map(({ id }) => id));
      await chain.decide();
      const heads = await listHeads(db.root, roads.world.catalog, {
        name: "all",
        chains: sql`select chain from chain_cursor`,
      });
      const rows = await exposed();
      const finalOn = (on: string) => {
        const head = heads.get(on);
        const tiers = roads.world.config.chains.find(({ caip2 }) => caip2 === on)?.finality ?? [];
        return tiers.map(({ upToPriceUnits: limit, finality }) => ({
          limit,
          block: head === undefined ? -1n : lastFinalBlock(finality, head),
        }));
      };
      const lowest = (on: string) => finalOn(on).reduce((low, { block }) => (block < low ? block : low), 10n ** 9n);
      for (const deposit of rows.filter(({ id, status }) => status === "counted" && !counted.has(id))) {
        assert(!deposit.behind, `${deposit.id} was counted although its chain is behind`);
        const others = rows.filter(({ intent }) => intent === deposit.intent);
        const sumOf = (list: typeof rows) => list.reduce((sum, { units }) => sum + units, 0n);
        const elsewhere = sumOf(others.filter(({ chain: on, block }) => on !== deposit.chain && block > lowest(on)));
        const tiers = finalOn(deposit.chain);
        const rule = tiers.find(({ limit }, index) => {
          const next = tiers[index + 1];
          if (next === undefined || limit === undefined) return true;
          const here = others.filter(({ chain: on, block }) => on === deposit.chain && block > next.block);
          return sumOf(here) + elsewhere <= limit;
        });
        assert(rule && deposit.block <= rule.block, `${deposit.id} in block ${deposit.block} was counted too early`);
      }
    }

    function pay(): void {
      const [intent, chain] = [pick(intents), pick(chains)];
      const price = intent.price_token_units ?? USDC;
      const units = random.pick([price, price / 2n, price / 3n, 1n, MINIMUM / 3n, price - 1n] as const);
      chain.pay(intent, units);
    }

    /** Some transactions of the replaced blocks are lost: others take their nonces. */
    function reorganise({ scripted }: RoadChain): void {
      const lost: { from: string; nonce: bigint }[] = [];
      scripted.reorg(random.between(1, 3), {
        isLost: ({ sender: from, nonce }) => random.chance(0.3) && lost.push({ from, nonce }) > 0,
        onBranch: () => {
          for (const transaction of lost) scripted.send({ ...transaction, calls: [] });
        },
      });
    }

    async function step(): Promise<void> {
      for (let sent = 0; sent < 6; sent += 1) pay();
      const chain = pick(chains);
      if (random.chance(0.2)) reorganise(chain);
      else chain.mine(random.between(1, 2));
      if (random.chance(0.8)) await chain.watch();
      if (random.chance(0.7)) await decide(pick(chains));
    }

    /** A round of every chain, in a random order. */
    async function advanceAll(): Promise<void> {
      const order = chains.toSorted(() => random.number() - 0.5);
      for (const chain of order) {
        chain.mine(2);
        await chain.watch();
      }
      for (const chain of order) await decide(chain);
    }

    /** What arrived in payments below the minimum, by intent: blocks that are not summed yet may hold it. */
    async function dustByIntent(): Promise<ReadonlyMap<string, bigint>> {
      const { rows } = await sql<{ intent: string; units: bigint }>`
        select intent_id as intent, sum(amount_units) as units from movement
        where direction = 'in' and orphaned_at is null and amount_units < ${MINIMUM} group by intent_id`.execute(
        db.root,
      );
      return new Map(rows.map(({ intent, units }) => [intent, units]));
    }

    test("D46 D47 nothing counts early, and whoever pays what remains is paid", async () => {
      for (let round = 0; round < ROUNDS; round += 1) await step();
      // Everything that was sent is mined and seen, and not final yet.
      await advanceAll();
      const asked = new Map<string, bigint>();
      const dust = await dustByIntent();
      for (const intent of intents) {
        const units = remainingUnits(await roads.intent(intent)) ?? 0n;
        asked.set(intent.id, units);
        if (units > 0n) pick(chains).pay(intent, units);
      }
      for (let round = 0; round < FINALIZED + 2; round += 1) await advanceAll();
      for (const intent of intents) {
        const { status, counted_units: counted, price_token_units: price } = await roads.intent(intent);
        const units = asked.get(intent.id) ?? 0n;
        assert.equal(status, "settled", `${intent.id} paid ${units} that remained`);
        assert(
          units === 0n || price === null || counted <= price + (dust.get(intent.id) ?? 0n),
          "nobody is asked for more than is missing and dust",
        );
      }
    });
  });
}
