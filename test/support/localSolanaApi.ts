import { encodeBase58 } from "@tributary/inbox/solana/base58";
import { decodeKey } from "@tributary/inbox/solana/keys";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import type { Chain } from "../../src/chain/chain.ts";
import { openSolanaChain } from "../../src/chain/solana/openSolanaChain.ts";
import type { SolanaChainConfig } from "../../src/config/config.ts";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import type { LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import { caip2, type Caip2 } from "../../src/kernel/caip.ts";
import { openTestApi, testApi, type Json, type Merchant, type TestApi } from "./api.ts";
import { SOLANA_CHAIN_CONFIG, SOLANA_WALLET } from "./solanaConfig.ts";

// The API of an installation that settles on a local Solana. It shares the database of the ordinary test API.

/** `baseUrl`: where pages reach it. The caller closes the server. */
export async function openLocalSolanaApi(solana: LocalSolana, baseUrl?: string): Promise<TestApi> {
  const { world } = await testApi();
  const chain = localChainConfig(solana);
  const config = {
    ...world.config,
    baseUrl: baseUrl ?? world.config.baseUrl,
    chains: [...world.config.chains, chain],
  };
  const opened = openSolanaChain(chain, { clock: world.clock, log: world.log });
  const chains = new Map<Caip2, Chain>([[chain.caip2, opened]]);
  return openTestApi(world.db, { config, catalog: buildCatalog(config), chains });
}

/** Creates an intent of 25 USDC that pays out on the local Solana. */
export function createLocalIntent(merchant: Merchant, { reference }: LocalSolana, body: object = {}): Promise<Json> {
  const payout = { payoutNamespace: "solana", payoutChainReference: reference, payoutWallet: SOLANA_WALLET };
  return merchant.createIntent({ ...payout, priceUnits: 25_000_000, oneTime: true, ...body });
}

function localChainConfig({ url, reference }: LocalSolana): SolanaChainConfig {
  const { operator, feeRecipient } = SOLANA_ACCOUNTS;
  const [token] = SOLANA_CHAIN_CONFIG.tokens;
  if (token === undefined) throw new Error("the test cluster has no token");
  return {
    ...SOLANA_CHAIN_CONFIG,
    caip2: caip2("solana", reference),
    name: "Solana",
    slug: "solana-local",
    rpcUrls: [url],
    publicRpcUrl: url,
    explorerUrl: "https://explorer.solana.com/?cluster=custom",
    estimates: { blockMs: 400, finalizedMs: 13_000, feeUsdMax: "0.01" },
    tokens: [{ ...token, address: LOCAL_MINTS.USDC.address }],
    program: LOCAL_INBOX_PROGRAM,
    feePayer: operator.address,
    feePayerKey: encodeBase58(Buffer.concat([operator.seed, decodeKey("operator", operator.address)])),
    feeRecipient: feeRecipient.address,
    priming: { openTotal: 20, openPerAccount: 5, hourlyPerAccount: 20, keepMs: 3_600_000 },
  };
}
