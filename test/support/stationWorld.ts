import { pino } from "pino";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { MAX_FEE_PER_GAS_DEFAULT } from "../../src/config/knownChains.ts";
import type { EvmChainConfig, Config } from "../../src/config/config.ts";
import type { Db } from "../../src/db/database.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { systemEntropy } from "../../src/kernel/entropy.ts";
import { createWake } from "../../src/kernel/wake.ts";
import { ProcessMemory } from "../../src/kernel/processMemory.ts";
import type { World } from "../../src/world.ts";
import { FEE_RECIPIENT, TEST_CHAIN, TEST_TOKEN } from "./intents.ts";

export type StationWorld = Pick<
  World,
  "db" | "clock" | "entropy" | "config" | "catalog" | "chains" | "log" | "wake" | "memory"
>;

/** A complete chain configuration for tests that override single fields. */
export const TEST_CHAIN_CONFIG: EvmChainConfig = {
  caip2: TEST_CHAIN,
  chainId: 31337,
  name: "Local",
  slug: "local",
  rpcUrls: ["http://127.0.0.1:1"],
  publicRpcUrl: "http://127.0.0.1:1",
  explorerUrl: "http://127.0.0.1:1",
  native: { name: "Ether", symbol: "ETH", decimals: 18 },
  gasKey: `0x${"11".repeat(32)}`,
  pollMs: 1_000,
  finality: [{ upToPriceUnits: undefined, finality: { confirmations: 2 } }],
  settleAfterMs: 0,
  settleBatchMax: 100,
  maxFeePerGas: MAX_FEE_PER_GAS_DEFAULT,
  tokens: [
    { symbol: "USDC", slug: "usdc", address: TEST_TOKEN, decimals: 6, minimumUnits: 0n, isOrigin: true, isRail: true },
  ],
  defaultToken: "USDC",
};

/** The world of a station that needs only rows and time: one chain that counts after two confirmations. */
export function stationWorld(db: Db, chain: Partial<EvmChainConfig> = {}): StationWorld {
  const config: Config = {
    environment: "test",
    baseUrl: "http://127.0.0.1:8787",
    listen: { host: "127.0.0.1", port: 0 },
    database: { kind: "pglite", directory: undefined },
    feeRecipient: FEE_RECIPIENT,
    chains: [{ ...TEST_CHAIN_CONFIG, ...chain }],
    defaultRail: "local:usdc",
    logLevel: "silent",
  };
  return {
    db,
    clock: systemClock,
    entropy: systemEntropy,
    config,
    catalog: buildCatalog(config),
    chains: new Map(),
    log: pino({ level: "silent" }),
    wake: createWake(systemClock),
    memory: new ProcessMemory(),
  };
}
