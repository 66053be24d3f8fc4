import { buildCatalog } from "../../src/catalog/catalog.ts";
import type { Chain } from "../../src/chain/chain.ts";
import { openTestApi, testApi, type Merchant, type TestApi } from "./api.ts";
import { CLUSTER, SOLANA_CHAIN_CONFIG, SOLANA_FEE_PAYER, SOLANA_WALLET } from "./solanaConfig.ts";

// The API of an installation that settles on a Solana cluster as well, without a gate. It shares the database of the
// ordinary test API.

export const ON_SOLANA = { payoutNamespace: "solana", payoutChainReference: CLUSTER } as const;

let shared: Promise<TestApi> | undefined;

/** The API of this process. It listens on no port, so nothing keeps the process. */
export function solanaApi(): Promise<TestApi> {
  return (shared ??= openSolanaApi());
}

async function openSolanaApi(): Promise<TestApi> {
  const { world } = await testApi();
  const config = { ...world.config, chains: [...world.config.chains, SOLANA_CHAIN_CONFIG] };
  // Of the chain, only the account that pays fees is asked for.
  const chain = { caip2: SOLANA_CHAIN_CONFIG.caip2, readers: [], feeds: [], sender: { payer: SOLANA_FEE_PAYER } };
  const chains = new Map([[chain.caip2, chain as unknown as Chain]]);
  return openTestApi(world.db, { config, catalog: buildCatalog(config), chains });
}

/** Creates an intent that pays out on Solana, by default to the test wallet in the chain's default token. */
export function createSolanaIntent(merchant: Merchant, body: object = {}) {
  return merchant.createIntent({ ...ON_SOLANA, payoutWallet: SOLANA_WALLET, ...body });
}
