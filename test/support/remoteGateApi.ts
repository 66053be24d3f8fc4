import { after } from "node:test";
import { buildCatalog } from "../../src/catalog/catalog.ts";
import { openTestApi, testApi, type Merchant, type TestApi } from "./api.ts";
import { CLUSTER, MINT, SOLANA_CHAIN_CONFIG, SOLANA_WALLET } from "./solanaConfig.ts";
import { openFakeIssuingGate, type FakeIssuingGate } from "./fakeIssuingGate.ts";

// The API of an installation with a remote gate and a Solana cluster. It shares the database of the ordinary test API.

export { CLUSTER, MINT, SOLANA_WALLET };

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
  const chains = [...world.config.chains, SOLANA_CHAIN_CONFIG].map((chain) => ({ ...chain, gate: "remote" as const }));
  const config = { ...world.config, chains };
  return { api: await openTestApi(world.db, { config, catalog: buildCatalog(config), gate: remote.gate }), remote };
}

/** Creates an intent that pays out on Solana. */
export async function createSolanaIntent(merchant: Merchant): Promise<string> {
  const payout = { payoutNamespace: "solana", payoutChainReference: CLUSTER, payoutWallet: SOLANA_WALLET };
  return (await merchant.createIntent(payout)).intentId;
}
