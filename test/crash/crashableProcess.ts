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

// A service whose calls to the outside all pass the crash injector, with the loops of the real service.

export type CrashEnvironment = {
  database: CrashDatabase;
  config: Config;
  node: EvmNode;
  time: ManualTime;
  gasKey: string;
};

/** The time of all processes of a run. It passes only when a test advances it. */
export type ManualTime = { nowMs: number };

export type CrashableProcess = {
  world: World;
  injector: CrashInjector;
  /** Runs each loop once, and again while more work waits, in the order of the road. */
  tick(): Promise<void>;
  /** Releases the process's resources after its end. */
  close(): Promise<void>;
};

/** The most iterations of one loop in one tick. */
const TICKS_MAX = 20;

export async function startProcess(environment: CrashEnvironment, injector: CrashInjector): Promise<CrashableProcess> {
  const { database, config, time, gasKey } = environment;
  const { db, close } = await database.open(injector);
  const clock = crashableClock(time, injector);
  const log = pino({ level: "silent" });
  const node = crashableNode(environment.node, injector);
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
  throw new Error(`${loop.name} still finds work after ${TICKS_MAX} iterations`);
}

function crashableClock(time: ManualTime, injector: CrashInjector): Clock {
  return {
    now: () => {
      injector.assertAlive();
      return new Date(time.nowMs);
    },
    monotonicMs: () => {
      injector.assertAlive();
      return time.nowMs;
    },
    sleep: async () => {
      // An idle loop makes no other call. Yielding here gives the other loops a turn in which the process can crash.
      await immediate();
      injector.assertAlive();
    },
  };
}

function crashableNode(node: EvmNode, injector: CrashInjector): EvmNode {
  return new Proxy(node, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const call = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
      // This method is synchronous and makes no call.
      if (name === "mayContainTransfers") {
        return (...args: unknown[]) => {
          injector.assertAlive();
          return call(...args);
        };
      }
      const step = { name: `chain.${String(name)}`, isEffect: name === "submit" };
      return (...args: unknown[]) => injector.runStep(step, () => call(...args));
    },
  });
}
