import type { Logger } from "pino";
import type { Catalog } from "./catalog/catalog.ts";
import type { Chain } from "./chain/chain.ts";
import type { Gate } from "./gate/gate.ts";
import type { Config } from "./config/config.ts";
import type { Db } from "./db/database.ts";
import type { Caip2 } from "./kernel/caip.ts";
import type { Clock } from "./kernel/clock.ts";
import type { Entropy } from "./kernel/entropy.ts";
import type { ProcessMemory } from "./kernel/processMemory.ts";
import type { Wake } from "./kernel/wake.ts";

/**
 * The only door to anything impure. Whatever reads the time, draws a random number, asks a database or a chain, or waits
 * for somebody takes a World (or the part of it that it needs) and nothing else.
 */
export type World = {
  readonly config: Config;
  readonly db: Db;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly wake: Wake;
  /** What this process remembers between two calls. */
  readonly memory: ProcessMemory;
  readonly catalog: Catalog;
  /** Every configured chain by its CAIP-2 name; a chain whose providers are down is still here. */
  readonly chains: ReadonlyMap<Caip2, Chain>;
  /** Issues source inboxes where this service does not, or has a say in them; absent where none is configured. */
  readonly gate?: Gate;
  readonly log: Logger;
};
