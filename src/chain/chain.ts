import type { Caip2 } from "../kernel/caip.ts";
import type { HeadFeed } from "./headFeed.ts";
import type { Providers } from "./providers.ts";
import type { ChainReader } from "./reader.ts";
import type { ChainSender } from "./sender.ts";

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
  /**
   * What differs from the network's entry in the catalogue, one sentence each; undefined for a network that is not in
   * it. Absent on kinds of chains that compare nothing. Throws ProviderFailed.
   */
  readonly findDifferences?: () => Promise<string[] | undefined>;
  /** Providers that push new heads; often empty. */
  readonly feeds: readonly HeadFeed[];
};

/**
 * Whether deposits are found by the balances of inboxes, because providers cannot list what moved. See
 * ChainReader.holdings.
 */
export function isReadByAccounts({ readers }: Pick<Chain, "readers">): boolean {
  return readers.some((reader) => reader.holdings !== undefined);
}
