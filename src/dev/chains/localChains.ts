import { join } from "node:path";
import { parseEther, type Hex } from "viem";
import { caip2, type Caip2 } from "../../kernel/caip.ts";
import { DEV_ACCOUNTS, FUNDED_ROLES, type DevAccount } from "../devAccounts.ts";
import { startAnvil, type Anvil } from "./anvil.ts";
import { createDevClient, sendCallsOrThrow, type DevClient } from "./devClient.ts";
import { openNodeProxy, type NodeProxy, type NodeTraits } from "./nodeProxy.ts";
import { deployHub, HUB, type Deployment } from "./contracts.ts";
import { balanceOf, deployFiatToken, mintCall, type FiatToken } from "./tokens.ts";

export interface LocalChainsOptions {
  chains: readonly { chainId: number; name: string }[];
  /** Default the hub of this version. */
  hub?: Deployment;
  /** Stores each chain in its own folder below this one. Default nothing is stored. */
  stateDirectory?: string;
  /** Five blocks a second, and nodes as some public networks have them: see PUBLIC_TRAITS. */
  isLikePublic?: boolean;
}

export interface LocalToken extends FiatToken {
  /** Lower case. */
  address: Hex;
}

export interface LocalChain {
  caip2: Caip2;
  chainId: number;
  name: string;
  rpcUrl: string;
  /** The node that the service asks, where it differs. */
  nodeUrl?: string;
  genesisHash: Hex;
  hub: Hex;
  tokens: LocalToken[];
}

export interface LocalChains {
  chains: LocalChain[];
  payer: DevAccount;
  operator: DevAccount;
  feeRecipient: Hex;
  /** Resolves when one of the chains has ended; before `stop`, that is a failure. */
  stopped: Promise<void>;
  stop(): Promise<void>;
}

/** The tokens of every dev chain. The second one has 18 decimals, to reveal code that assumes 6. */
const DEV_TOKENS: readonly FiatToken[] = [
  { name: "USD Coin", symbol: "USDC", currency: "USD", decimals: 6 },
  { name: "Dev Dollar", symbol: "DUSD", currency: "USD", decimals: 18 },
];

const GAS_WEI = parseEther("10000");
const PAYER_TOKENS = 10_000_000n;

/** A block every second as on a real chain; `finalized` is two blocks behind the head instead of 64. */
const MINING_OPTIONS = { blockTimeSeconds: 1, slotsInAnEpoch: 1 };
/** Five blocks share one time. */
const FAST_MINING_OPTIONS = { blockTimeSeconds: 0.2, slotsInAnEpoch: 1 };
/** Half an hour of blocks, as nodes keep the state of that many. */
const PUBLIC_TRAITS: NodeTraits = { keptBlocks: 10_000, hasForeignBloom: true, refusesBlockReceipts: true };

/**
 * Starts the chains of the dev world in parallel, each with the hub, the tokens and a payer with gas and tokens.
 * @throws Error when one of them does not start, after stopping the others.
 */
export async function startLocalChains(options: LocalChainsOptions): Promise<LocalChains> {
  const { chains, hub = HUB, stateDirectory, isLikePublic = false } = options;
  const miningOptions = isLikePublic ? FAST_MINING_OPTIONS : MINING_OPTIONS;
  const proxies: NodeProxy[] = [];
  const starts = chains.map(({ chainId }) => {
    const storage = stateDirectory === undefined ? {} : { stateDirectory: join(stateDirectory, String(chainId)) };
    return startAnvil({ chainId, ...miningOptions, ...storage });
  });
  const results = await Promise.allSettled(starts);
  const anvils = results.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const stop = async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await Promise.all(anvils.map((anvil) => anvil.stop()));
  };
  try {
    const prepared = chains.map(async ({ name }, index) => {
      const chain = await prepareChain(await starts[index], name, hub);
      if (!isLikePublic) return chain;
      const proxy = await openNodeProxy(chain.rpcUrl, PUBLIC_TRAITS);
      proxies.push(proxy);
      return { ...chain, nodeUrl: proxy.url };
    });
    const { payer, operator, feeRecipient } = DEV_ACCOUNTS;
    const accounts = { payer, operator, feeRecipient: feeRecipient.address };
    const stopped = Promise.race(anvils.map((anvil) => anvil.stopped));
    return { chains: await Promise.all(prepared), ...accounts, stopped, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function prepareChain(anvil: Anvil | undefined, name: string, hub: Deployment): Promise<LocalChain> {
  if (!anvil) throw new Error(`${name} did not start`);
  const { chainId, rpcUrl, genesisHash } = anvil;
  const fixtures = await deployFixtures(createDevClient(rpcUrl), hub);
  return { caip2: caip2("eip155", String(chainId)), chainId, name, rpcUrl, genesisHash, ...fixtures };
}

/** Deploys hub and tokens and funds the accounts of a chain. Contracts and balances that exist stay. */
export async function deployFixtures(client: DevClient, hub: Deployment): Promise<{ hub: Hex; tokens: LocalToken[] }> {
  const { issuer, payer } = DEV_ACCOUNTS;
  await Promise.all(
    FUNDED_ROLES.map((role) => client.setBalance({ address: DEV_ACCOUNTS[role].address, value: GAS_WEI })),
  );
  const hubAddress = await deployHub(client, issuer, hub);
  const tokens = await deployTokens(client);
  const held = await Promise.all(tokens.map(({ address }) => balanceOf(client, address, payer.address)));
  const mints = tokens.flatMap(({ address, decimals }, index) => {
    const missing = PAYER_TOKENS * 10n ** BigInt(decimals) - (held[index] ?? 0n);
    return missing > 0n ? [mintCall(address, payer.address, missing)] : [];
  });
  await sendCallsOrThrow(client, issuer, mints);
  return { hub: hubAddress, tokens };
}

async function deployTokens(client: DevClient): Promise<LocalToken[]> {
  const tokens: LocalToken[] = [];
  // In sequence, because the deployments share the issuer's nonces and the implementation.
  for (const token of DEV_TOKENS) {
    tokens.push({ ...token, address: await deployFiatToken(client, DEV_ACCOUNTS.issuer, token) });
  }
  return tokens;
}
