import type { Logger } from "pino";
import type { ChainConfig } from "../../config/config.ts";
import type { Timer } from "../../kernel/clock.ts";
import type { Chain } from "../chain.ts";
import type { HeadFeed } from "../headFeed.ts";
import { EvmProviders } from "./evmProviders.ts";
import type { EvmNode } from "./node.ts";
import { openNewHeadsFeed } from "./rpc/newHeadsFeed.ts";
import { openEvmNode } from "./rpcNode.ts";
import { EvmSender } from "./send/evmSender.ts";
import { openGasAccount, type GasAccount } from "./send/gasAccount.ts";
import { createSenderContext } from "./send/senderContext.ts";

type EvmChainWorld = { clock: Timer; log: Logger };

/** Opens a configured EVM chain. Makes no request, so unreachable providers do not matter. */
export function openEvmChain(config: ChainConfig, world: EvmChainWorld): Chain {
  const [first, ...others] = config.rpcUrls.map((rpcUrl) => openEvmNode({ caip2: config.caip2, rpcUrl }));
  if (first === undefined) throw new Error(`${config.name} has no RPC URL`);
  const feeds = (config.wsUrls ?? []).map((wsUrl) =>
    openNewHeadsFeed({ caip2: config.caip2, wsUrl, clock: world.clock }),
  );
  const gasAccount = openGasAccount(config.gasKey);
  const { maxFeePerGas } = config;
  return createEvmChain({ nodes: [first, ...others], gasAccount, feeds, maxFeePerGas }, world);
}

type EvmChainParts = {
  /** In order of preference. */
  nodes: readonly [EvmNode, ...EvmNode[]];
  gasAccount: GasAccount;
  feeds?: readonly HeadFeed[];
  /** The fee ceiling in wei per gas. Absent: that of an unknown network. */
  maxFeePerGas?: bigint;
};

/** Builds an EVM chain from its nodes and the account that pays gas. */
export function createEvmChain(parts: EvmChainParts, world: EvmChainWorld): Chain {
  const { nodes, gasAccount, feeds = [], maxFeePerGas } = parts;
  const providers = new EvmProviders(nodes, world);
  const sender = new EvmSender(createSenderContext(providers, gasAccount, maxFeePerGas));
  return { caip2: providers.caip2, readers: nodes, providers, sender, feeds };
}
