import { cctpV2Chains } from "@tributary/inbox/cctpV2Chains";
import type { Hex } from "@tributary/inbox/terms";
import type { Logger } from "pino";
import type { ChainConfig, EvmChainConfig } from "../../config/config.ts";
import { ConfigError } from "../../config/section.ts";
import type { Timer } from "../../kernel/clock.ts";
import type { Chain } from "../chain.ts";
import type { HeadFeed } from "../headFeed.ts";
import { toMessageAccount } from "@tributary/inbox/burnMessage";
import type { BridgeContracts } from "./bridge/provenCrossings.ts";
import { EvmProviders } from "./evmProviders.ts";
import { findNetworkDifferences } from "./network/compareNetwork.ts";
import type { EvmNode } from "./node.ts";
import { openNewHeadsFeed } from "./rpc/newHeadsFeed.ts";
import { openEvmNode } from "./rpcNode.ts";
import { EvmSender } from "./send/evmSender.ts";
import { openForeignAccount, openGasAccount, type GasAccount } from "./send/gasAccount.ts";
import { createSenderContext } from "./send/senderContext.ts";
import { isSignedByContract } from "./wallet/contractSignature.ts";

type EvmChainWorld = { clock: Timer; log: Logger };

/**
 * Opens a configured EVM chain. `chains`: all configured ones. Makes no request, so unreachable providers do not
 * matter.
 */
export function openEvmChain(config: EvmChainConfig, world: EvmChainWorld, chains: readonly ChainConfig[] = []): Chain {
  const bridge = findBridgeContracts(config, chains);
  const [first, ...others] = config.rpcUrls.map((rpcUrl) =>
    openEvmNode({ caip2: config.caip2, rpcUrl, bridge, hasForeignBloom: config.hasForeignBloom }),
  );
  if (first === undefined) throw new Error(`${config.name} has no RPC URL`);
  const feeds = (config.wsUrls ?? []).map((wsUrl) =>
    openNewHeadsFeed({ caip2: config.caip2, wsUrl, clock: world.clock }),
  );
  const gasAccount = openConfiguredAccount(config);
  const { maxFeePerGas } = config;
  const transmitter = bridge && { transmitter: bridge.transmitter as Hex };
  const tokens = config.tokens.map(({ address }) => address);
  return createEvmChain({ nodes: [first, ...others], gasAccount, feeds, maxFeePerGas, tokens, ...transmitter }, world);
}

function openConfiguredAccount({ name, gasKey, gasAccount: address }: EvmChainConfig): GasAccount {
  if (gasKey !== undefined) {
    const account = openGasAccount(gasKey);
    if (address === undefined || address === account.address) return account;
    throw new ConfigError(`${name}: gasAccount is not the address of the gas key, which is ${account.address}.`);
  }
  if (address !== undefined) return openForeignAccount(address);
  throw new ConfigError(`${name}: gasAccount is missing.`);
}

/**
 * The bridge's contracts on a chain with a token that crosses; undefined without one. Every configured chain can send
 * to it, and every published one of the same network, because strangers may bridge to an inbox from there.
 */
function findBridgeContracts(config: EvmChainConfig, chains: readonly ChainConfig[]): BridgeContracts | undefined {
  const { cctp, tokens } = config;
  if (cctp === undefined || tokens.every(({ bridge }) => bridge === undefined)) return undefined;
  const published = cctpV2Chains.filter(({ transmitter }) => transmitter === cctp.transmitter);
  const configured = chains.flatMap(({ cctp: other }) => other ?? []);
  const remoteMessengers = new Map(
    [...published, ...configured].map(({ domain, messenger }) => [domain, toMessageAccount(messenger)] as const),
  );
  const publishedMessenger = published[0] && toMessageAccount(published[0].messenger);
  return { messenger: cctp.messenger, transmitter: cctp.transmitter, remoteMessengers, publishedMessenger };
}

type EvmChainParts = {
  /** In order of preference. */
  nodes: readonly [EvmNode, ...EvmNode[]];
  gasAccount: GasAccount;
  feeds?: readonly HeadFeed[];
  /** The fee ceiling in wei per gas. Absent: that of an unknown network. */
  maxFeePerGas?: bigint;
  /** The addresses of the configured tokens, in lower case. */
  tokens?: readonly string[];
  /** The contract that receives a bridge's messages. Absent: no bridge is used. */
  transmitter?: Hex;
};

/** Builds an EVM chain from its nodes and the account that pays gas. */
export function createEvmChain(parts: EvmChainParts, world: EvmChainWorld): Chain {
  const { nodes, gasAccount, feeds = [], tokens = [], ...options } = parts;
  const providers = new EvmProviders(nodes, world);
  const sender = new EvmSender(createSenderContext(providers, gasAccount, options));
  const findDifferences = () => findNetworkDifferences(providers, tokens);
  return {
    caip2: providers.caip2,
    detection: "blocks",
    readers: nodes,
    providers,
    sender,
    feeds,
    findDifferences,
    isSignedByContract: (signed) => isSignedByContract(providers, signed),
  };
}
