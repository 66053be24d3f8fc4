import type { Caip2 } from "../kernel/caip.ts";
import type { HeadFeed } from "./headFeed.ts";
import type { Providers } from "./providers.ts";
import type { ChainReader } from "./reader.ts";
import type { ChainSender } from "./sender.ts";

/** One chain as the service uses it. Its kind makes it: src/chain/evm/openEvmChain.ts for EVM chains. */
export type Chain = {
  readonly caip2: Caip2;
  /** Its providers, in order of preference. */
  readonly readers: readonly ChainReader[];
  /** All of them as one, with failover: for every request that does not compare providers. */
  readonly providers: Providers;
  readonly sender: ChainSender;
  /** Providers that push new heads; often none. */
  readonly feeds: readonly HeadFeed[];
};
