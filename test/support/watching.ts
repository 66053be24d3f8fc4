import { pino } from "pino";
import { buildCatalog, type Catalog } from "../../src/catalog/catalog.ts";
import { openChain, type Chain } from "../../src/chain/chain.ts";
import type { ChainDriver } from "../../src/chain/driver.ts";
import { openEvmDriver } from "../../src/chain/evm/driver.ts";
import { openGasAccount } from "../../src/chain/evm/gasAccount.ts";
import type { ChainConfig } from "../../src/config.ts";
import type { Db } from "../../src/db/database.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { createWake } from "../../src/kernel/wake.ts";
import type { MovementRow } from "../../src/watch/movement.ts";
import type { WatchWorld } from "../../src/watch/record.ts";
import type { TestChain } from "./chain.ts";

const log = pino({ level: "silent" });

/** The real driver of a test chain, with some of its answers bent. */
export type Bend = (driver: ChainDriver) => Partial<ChainDriver>;

/** What watching a test chain needs of the world; its two tokens are origins and rails. */
export function watchWorld(db: Db, chain: TestChain): WatchWorld {
  return { db, clock: systemClock, wake: createWake(systemClock), catalog: catalogOf(chain), log };
}

/** The chain through one provider for each bend; without one, through the real provider. */
export function openTestChain(chain: TestChain, ...bends: readonly Bend[]): Chain {
  const drivers = (bends.length === 0 ? [() => ({})] : bends).map((bend) => bentDriver(chain, bend));
  const [first, ...others] = drivers;
  if (!first) throw new Error("a chain has a provider");
  const gasAccount = openGasAccount(`0x${"11".repeat(32)}`);
  return openChain({ drivers: [first, ...others], gasAccount }, { clock: systemClock, log });
}

function bentDriver(chain: TestChain, bend: Bend): ChainDriver {
  const driver: ChainDriver = openEvmDriver({ caip2: chain.caip2, rpcUrl: chain.rpcUrl });
  const bent = bend(driver);
  return new Proxy(driver, {
    get(target, name) {
      const value: unknown = Reflect.get(bent, name) ?? Reflect.get(target, name, target);
      return typeof value === "function" ? (value as (...given: unknown[]) => unknown).bind(target) : value;
    },
  });
}

/** Every movement of a chain in the order in which it was first recorded, orphaned ones too. */
export async function movementsOf(db: Db, chain: TestChain): Promise<MovementRow[]> {
  return db.read.selectFrom("movement").selectAll().where("chain", "=", chain.caip2).orderBy("id").execute();
}

function catalogOf(chain: TestChain): Catalog {
  const tokens = [chain.usdc, chain.dusd].map(({ symbol, address, decimals }) => ({
    symbol,
    slug: symbol.toLowerCase(),
    address,
    decimals,
    minimumUnits: 0n,
    isOrigin: true,
    isRail: true,
  }));
  const config: ChainConfig = {
    caip2: chain.caip2,
    chainId: chain.chainId,
    name: "Test",
    slug: "test",
    rpcUrls: [chain.rpcUrl],
    publicRpcUrl: chain.rpcUrl,
    explorerUrl: "",
    native: { name: "Ether", symbol: "ETH", decimals: 18 },
    gasKey: `0x${"11".repeat(32)}`,
    pollMs: 250,
    finality: [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }],
    settleAfterMs: 0,
    settleBatchMax: 100,
    tokens,
    defaultToken: "USDC",
  };
  return buildCatalog({ chains: [config], defaultRail: "test:usdc" });
}
