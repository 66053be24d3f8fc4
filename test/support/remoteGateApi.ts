import { after } from "node:test";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import type { ChainDescription } from "../../src/config/config.ts";
import { openTestApi, testApi, type Merchant, type TestApi } from "./api.ts";
import { openFakeIssuingGate, type FakeIssuingGate } from "./fakeIssuingGate.ts";

// The API of an installation with a remote gate and a Solana cluster. It shares the database of the ordinary test API.

export const CLUSTER = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
export const MINT = "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU";
export const SOLANA_WALLET = "B8UwBUUnKwCyKuGMbFKWaG7exYdDk2ozZrPg72NyVbfj";

export type RemoteGateApi = { api: TestApi; remote: FakeIssuingGate };

let shared: Promise<RemoteGateApi> | undefined;

/** The API of this process. It closes after the last test. A test that changes the gate's behaviour restores it. */
export function remoteGateApi(): Promise<RemoteGateApi> {
  return (shared ??= openRemoteGateApi());
}

after(async () => {
  const { api, remote } = (await shared) ?? {};
  await api?.server.close();
  await remote?.close();
});

async function openRemoteGateApi(): Promise<RemoteGateApi> {
  const [{ world }, remote] = await Promise.all([testApi(), openFakeIssuingGate()]);
  const chains = world.config.chains.map((chain) => ({ ...chain, gate: "remote" as const }));
  const config = { ...world.config, chains, solanaChains: [solanaDevnet()] };
  return { api: await openTestApi(world.db, { config, catalog: buildCatalog(config), gate: remote.gate }), remote };
}

/** A chain that accepts deposits and, in the catalog alone, payouts. */
function solanaDevnet(): ChainDescription {
  return {
    caip2: `solana:${CLUSTER}`,
    chainId: 103,
    name: "Solana Devnet",
    slug: "solana-devnet",
    publicRpcUrl: "https://api.devnet.solana.com",
    explorerUrl: "https://explorer.solana.com",
    native: { name: "Solana", symbol: "SOL", decimals: 9 },
    tokens: [
      {
        symbol: "USDC",
        slug: "usdc",
        address: MINT,
        decimals: 6,
        minimumUnits: 10_000n,
        isOrigin: true,
        isRail: true,
      },
    ],
    defaultToken: "USDC",
  };
}

/** Creates an intent that pays out on Solana. */
export async function createSolanaIntent(merchant: Merchant): Promise<string> {
  const payout = { payoutNamespace: "solana", payoutChainReference: CLUSTER, payoutWallet: SOLANA_WALLET };
  return (await merchant.createIntent(payout)).intentId;
}
