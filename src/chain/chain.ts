import type { Logger } from "pino";
import type { Caip2 } from "../kernel/caip.ts";
import type { Clock } from "../kernel/clock.ts";
import type { ChainDriver } from "./driver.ts";
import type { HeadFeed } from "./headFeed.ts";
import { Providers } from "./providers.ts";

/** One chain as the service uses it: its providers, in order of preference, and the account that pays gas on it. */
export type Chain = {
  readonly caip2: Caip2;
  readonly drivers: readonly ChainDriver[];
  /** All of them as one, with failover. Whoever does not mean to compare providers asks here. */
  readonly providers: Providers;
  readonly gasAccount: GasAccount;
  /** Providers that tell of new heads by themselves; often none. */
  readonly feeds: readonly HeadFeed[];
};

/** Puts a chain together. Nothing is asked yet, so a chain whose providers are down opens as well. */
export function openChain(
  parts: {
    drivers: readonly [ChainDriver, ...ChainDriver[]];
    gasAccount: GasAccount;
    feeds?: readonly HeadFeed[];
  },
  world: { clock: Clock; log: Logger },
): Chain {
  const { drivers, gasAccount, feeds = [] } = parts;
  const providers = new Providers(drivers, world);
  return { caip2: providers.caip2, drivers, providers, gasAccount, feeds };
}

/** Signs what was decided elsewhere. It pays gas and can move nobody's deposit. */
export interface GasAccount {
  readonly address: string;
  sign(transaction: UnsignedTransaction): Promise<SignedTransaction>;
}

export type UnsignedTransaction = {
  chainId: number;
  nonce: bigint;
  to: string;
  data: string;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
};

/** The bytes to broadcast and the hash they will have on chain. */
export type SignedTransaction = { raw: string; chainTx: string };
