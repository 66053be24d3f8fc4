import { setImmediate as immediate } from "node:timers/promises";
import { pino } from "pino";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import type { EvmNode } from "../../src/chain/evm/node.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import type { Config } from "../../src/config/config.ts";
import type { Clock } from "../../src/kernel/clock.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import { createLoops } from "../../src/loops/runLoops.ts";
import type { Loop } from "../../src/loops/loop.ts";
import type { World } from "../../src/world.ts";
import type { CrashDatabase } from "./crashDatabase.ts";
import type { CrashInjector } from "./crashInjector.ts";

// A running service, in the sense in which one can end: a world in which every door has a fuse, and the loops that a service runs.

export type CrashEnvironment = {
  database: CrashDatabase;
  config: Config;
  node: EvmNode;
  time: ManualTime;
  gasKey: string;
};

/** The time of all processes of a sweep. It passes when somebody says so. */
export type ManualTime = { nowMs: number };

export type CrashableProcess = {
  world: World;
  injector: CrashInjector;
  /** One piece of work of each loop, and more where more is waiting, in the order of the road. */
  tick(): Promise<void>;
  /** What is left to do when the process is over. */
  close(): Promise<void>;
};

/** Pieces of work of one loop in one turn. */
const TICKS_MAX = 20;

export async function startProcess(surroundings: CrashEnvironment, injector: CrashInjector): Promise<CrashableProcess> {
  const { database, config, time, gasKey } = surroundings;
  const { db, close } = await database.open(injector);
  const clock = crashableClock(time, injector);
  const log = pino({ level: "silent" });
  const node = crashableNode(surroundings.node, injector);
  const chain = createEvmChain({ nodes: [node], gasAccount: openGasAccount(gasKey) }, { clock, log });
  const world: World = {
    config,
    db,
    clock,
    entropy: {
      bytes: (count) => {
        injector.assertAlive();
        return systemEntropy.bytes(count);
      },
    },
    wake: createWake(clock),
    memory: new ProcessMemory(),
    catalog: buildCatalog(config),
    chains: new Map([[chain.caip2, chain]]),
    log,
  };
  const loops = createLoops(world);
  return {
    world,
    injector,
    tick: async () => {
      for (const loop of loops) await runLoopUntilIdle(loop);
    },
    close: async () => {
      await injector.waitForPendingSteps();
      await close();
    },
  };
}

async function runLoopUntilIdle(loop: Loop): Promise<void> {
  for (let ticks = 0; ticks < TICKS_MAX; ticks += 1) if (!(await loop.tick())) return;
  throw new Error(`${loop.name} finds more to do, however often it has worked`);
}

function crashableClock(time: ManualTime, fuse: CrashInjector): Clock {
  return {
    now: () => {
      fuse.assertAlive();
      return new Date(time.nowMs);
    },
    monotonicMs: () => {
      fuse.assertAlive();
      return time.nowMs;
    },
    sleep: async () => {
      // A loop that finds nothing to do asks nobody: it would leave the others no turn in which the process can end.
      await immediate();
      fuse.assertAlive();
    },
  };
}

function crashableNode(node: EvmNode, fuse: CrashInjector): EvmNode {
  return new Proxy(node, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const ask = value.bind(target) as (...given: unknown[]) => Promise<unknown>;
      // This one asks nobody and answers at once.
      if (name === "mayContainTransfers") {
        return (...given: unknown[]) => {
          fuse.assertAlive();
          return ask(...given);
        };
      }
      const step = { name: `chain.${String(name)}`, isEffect: name === "submit" };
      return (...given: unknown[]) => fuse.runStep(step, () => ask(...given));
    },
  });
}
