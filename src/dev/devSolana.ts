import type { SolanaChainConfig } from "../config/config.ts";
import { caip2 } from "../kernel/caip.ts";
import type { Clock } from "../kernel/clock.ts";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "./solana/fixtures.ts";
import { encodeBase58 } from "@tributary/inbox/solana/base58";
import { startLocalSolana, type LocalSolana } from "./solana/startLocalSolana.ts";

/** A Solana cluster of the dev world. */
export type DevSolana = {
  /** How the service watches it and settles on it. */
  config: (baseUrl: string) => SolanaChainConfig;
  stop(): Promise<void>;
};

/** No EVM chain has this id. */
const CHAIN_ID = 104;
/** While nobody looks at a page. */
const POLL_MS = 2_000;
const BLOCKS_BEFORE = 200;
/** As the EVM chains of the dev world, it is final after two blocks more. */
const FINALIZED_AFTER = 3;
const COMPUTE_UNIT_PRICE_MAX = 1_000_000n;

/** Starts the cluster in this process: a transaction takes a millisecond, and an idle second less than two. */
export async function startDevSolana(clock: Clock, stateDirectory: string | undefined): Promise<DevSolana> {
  const storage = stateDirectory === undefined ? {} : { stateDirectory };
  const solana = await startLocalSolana({ clock, name: "dev", finalizedAfter: FINALIZED_AFTER, ...storage });
  // The service reads some blocks before the first one that it watches, and their parents.
  solana.control.nextSlot(BLOCKS_BEFORE);
  return { config: (baseUrl) => devSolanaChain(solana, baseUrl), stop: () => solana.stop() };
}

function devSolanaChain({ reference, url, wsUrl }: LocalSolana, baseUrl: string): SolanaChainConfig {
  const { operator, feeRecipient } = SOLANA_ACCOUNTS;
  return {
    caip2: caip2("solana", reference),
    chainId: CHAIN_ID,
    name: "Dev Solana",
    slug: "dev-solana",
    rpcUrls: [url],
    wsUrls: [wsUrl],
    publicRpcUrl: url,
    explorerUrl: `${baseUrl}/dev/explorer/${CHAIN_ID}`,
    native: { name: "Solana", symbol: "SOL", decimals: 9 },
    estimates: { blockMs: 400, finalizedMs: 1_600, feeUsdMax: "0" },
    pollMs: POLL_MS,
    finality: [{ upToPriceUnits: undefined, finality: { tag: "finalized" } }],
    settleAfterMs: 0,
    settleBatchMax: 8,
    tokens: Object.values(LOCAL_MINTS).map(({ symbol, address, decimals, program }) => ({
      symbol,
      slug: symbol.toLowerCase(),
      address,
      tokenProgram: program,
      decimals,
      minimumUnits: 10n ** BigInt(decimals - 2),
      isOrigin: true,
      isRail: true,
    })),
    defaultToken: "USDC",
    program: LOCAL_INBOX_PROGRAM,
    feePayer: operator.address,
    feePayerKey: encodeBase58(Buffer.concat([operator.seed, Buffer.from(operator.publicKey)])),
    feeRecipient: feeRecipient.address,
    computeUnitPriceMax: COMPUTE_UNIT_PRICE_MAX,
  };
}
