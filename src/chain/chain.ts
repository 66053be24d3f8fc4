import type { Caip2 } from "../kernel/caip.ts";
import type { HeadFeed } from "./headFeed.ts";
import type { Providers } from "./providers.ts";
import type { ChainReader } from "./reader.ts";
import type { ChainSender } from "./sender.ts";

/**
 * How deposits are found. `blocks`: blocks list what moved. `balances`: providers cannot list that, so the balances of
 * inboxes show it, and readers have `holdings`.
 */
export type Detection = "blocks" | "balances";

/** One chain for the service, created by its kind: src/chain/evm/openEvmChain.ts for EVM chains. */
export type Chain = {
  readonly caip2: Caip2;
  /** Its providers, in order of preference. */
  readonly readers: readonly ChainReader[];
  /** All providers behind one reader with failover, for requests that do not compare providers. */
  readonly providers: Providers;
  /**
   * The same providers, for what payers' wallets ask. Its own sockets and cooldown, because anybody may ask. Absent on
   * kinds of chains whose payers ask nothing of the service.
   */
  readonly payerReader?: ChainReader;
  readonly sender: ChainSender;
  readonly detection: Detection;
  /**
   * What differs from the network's entry in the catalogue, one sentence each; undefined for a network that is not in
   * it. Absent on kinds of chains that compare nothing. Throws ProviderFailed.
   */
  readonly findDifferences?: () => Promise<string[] | undefined>;
  /**
   * Whether a wallet that is a contract signed a text (EIP-1271), by the providers. Absent on kinds of chains without
   * such wallets. Throws ProviderFailed and ChainMismatch.
   */
  readonly isSignedByContract?: (signed: { wallet: string; text: string; signature: string }) => Promise<boolean>;
  /** Providers that push new heads; often empty. */
  readonly feeds: readonly HeadFeed[];
};
