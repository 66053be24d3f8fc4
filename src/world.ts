import type { Logger } from "pino";
import type { Catalog } from "./catalog/catalog.ts";
import type { BridgeService } from "./chain/bridge.ts";
import type { Chain } from "./chain/chain.ts";
import type { Gate } from "./gate/gate.ts";
import type { Config } from "./config/config.ts";
import type { Db } from "./db/database.ts";
import type { Replica } from "./db/postgres/replica.ts";
import type { Caip2 } from "./kernel/caip.ts";
import type { Clock } from "./kernel/clock.ts";
import type { HostMetrics } from "./kernel/alarm/hostMetrics.ts";
import type { Entropy } from "./kernel/entropy.ts";
import type { Outbound } from "./kernel/outbound/outbound.ts";
import type { Tracing } from "./kernel/tracing/tracing.ts";
import type { ProcessMemory } from "./kernel/processMemory.ts";
import type { Wake } from "./kernel/wake.ts";

/**
 * The only access to impure parts: time, randomness, the database, the chains and waiting. All code that uses one takes
 * a World, or the part of it that it needs.
 */
export type World = {
  readonly config: Config;
  readonly db: Db;
  /** A copy of the database for reads that may be some seconds old; absent when none is configured. */
  readonly replica?: Replica;
  readonly clock: Clock;
  /**
   * Reads the time of the clock's source again; absent where the clock has none. Rejects when the source does not
   * answer.
   */
  readonly refreshClock?: () => Promise<void>;
  /** What the alarms read from this machine; absent in a simulation. */
  readonly hostMetrics?: HostMetrics;
  readonly entropy: Entropy;
  readonly wake: Wake;
  /** State that this process keeps between two calls. */
  readonly memory: ProcessMemory;
  readonly catalog: Catalog;
  /** Every configured chain by CAIP-2 id, including chains whose providers are down. */
  readonly chains: ReadonlyMap<Caip2, Chain>;
  /** Issues or approves source inboxes for this service; absent when none is configured. */
  readonly gate?: Gate;
  /** The bridge's service; absent where no token crosses by a bridge. */
  readonly bridge?: BridgeService;
  /** The only way to URLs that merchants give; absent where nothing goes out, as in tests of other parts. */
  readonly outbound?: Outbound;
  /** Where steps of payments are sent as spans; absent when nothing is configured. */
  readonly tracing?: Tracing;
  readonly log: Logger;
};
