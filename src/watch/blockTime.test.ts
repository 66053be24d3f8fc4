import { deepEqual, equal } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openTestChain } from "../../test/support/watcher.ts";
import { startTestChain, type TestChain } from "../../test/support/chain.ts";
import { TEST_CHAIN_CONFIG } from "../../test/support/stationWorld.ts";
import { buildCatalog } from "../catalog/catalog.ts";
import { sampleChain } from "../health/sampleChain.ts";
import { blockTimeFindings } from "../operator/doctor/blockTimeFindings.ts";
import { systemClock } from "../kernel/clock.ts";
import { ProcessMemory } from "../kernel/processMemory.ts";
import {
  blockMsOf,
  blocksIn,
  DEEPEST_REORG,
  NEAR_HEAD,
  PROVIDER_LAG,
  refreshBlockTime,
  SHALLOW_REORG,
} from "./blockTime.ts";

const HOUR_MS = 3_600_000;
const MEASURED = 1_000;

describe("the block time of a chain", () => {
  let chain: TestChain;
  before(async () => {
    chain = await startTestChain();
  });
  after(() => chain.stop());

  /** Mines blocks that are so many seconds apart. */
  async function mineEvery(seconds: number): Promise<void> {
    await chain.client.mine({ blocks: MEASURED + 1, interval: seconds });
  }

  function open(blockMs: number | undefined) {
    const time = { ms: 0 };
    const config = { ...TEST_CHAIN_CONFIG, caip2: chain.caip2, chainId: chain.chainId, estimates: { blockMs } };
    const world = {
      clock: { ...systemClock, monotonicMs: () => time.ms },
      memory: new ProcessMemory(),
      catalog: buildCatalog({ chains: [config], defaultRail: "test:usdc" }),
    };
    const opened = openTestChain(chain);
    const measure = async () => refreshBlockTime(world, opened, await opened.providers.head("latest"));
    return { time, world, config, opened, measure };
  }

  test("is the configured one until it is measured, and is measured anew every hour", async () => {
    const { time, world, opened, measure } = open(200);
    const seconds = () => Math.round(blockMsOf(world, opened) / 1_000);
    equal(blockMsOf(open(undefined).world, opened), 2_000, "neither measured nor configured");
    await measure();
    equal(blockMsOf(world, opened), 200, "a young chain");
    await mineEvery(2);
    time.ms += HOUR_MS;
    await measure();
    equal(seconds(), 2);
    await mineEvery(1);
    time.ms += HOUR_MS - 1;
    await measure();
    equal(seconds(), 2, "not yet an hour");
    time.ms += 1;
    await measure();
    equal(seconds(), 1);
  });

  test("turns times into blocks, within bounds", async () => {
    const blocks = (blockMs: number) => {
      const { world, opened } = open(blockMs);
      return [NEAR_HEAD, PROVIDER_LAG, SHALLOW_REORG, DEEPEST_REORG].map((span) =>
        Number(blocksIn(world, opened, span)),
      );
    };
    deepEqual(blocks(2_000), [32, 16, 2, 512]);
    deepEqual(blocks(200), [320, 100, 20, 5_120]);
    deepEqual(blocks(12_000), [16, 4, 2, 512]);
  });

  test("is a finding where it differs from the configured one by more than two times", async () => {
    await mineEvery(2);
    const findings = async (blockMs: number | undefined) => {
      const { world, config, opened } = open(blockMs);
      const sample = await sampleChain(world, { chain: opened, config, cursor: undefined }, { withoutGas: true });
      return blockTimeFindings(sample).map(({ verdict }) => verdict);
    };
    deepEqual(await findings(1_100), ["ok"]);
    deepEqual(await findings(200), ["warn"]);
    deepEqual(await findings(12_000), ["warn"]);
    deepEqual(await findings(undefined), []);
  });
});
