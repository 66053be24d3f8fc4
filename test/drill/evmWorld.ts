import type { Hex } from "@tributary/inbox/terms";
import { hubAddress } from "@tributary/inbox/hub";
import { encodeFunctionData, parseAbi } from "viem";
import { toMessageAccount } from "@tributary/inbox/burnMessage";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { deploymentCall, deployedAddress } from "../../src/dev/chains/contracts.ts";
import { showIntent } from "../../src/operator/intentOperations.ts";
import { openBridgedRoad, type BridgedRoad } from "../support/bridgedRoad.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { openTestDatabase } from "../support/database.ts";
import { openRationedRpc, type RationedRpc } from "../support/rationedRpc.ts";

// The EVM chains of the drill: one of payouts, one with a route to it, and one that the service never knew, whose first
// provider is wrong.

export type EvmWorld = {
  home: TestChain;
  origin: TestChain;
  /** Without the hub. */
  far: TestChain;
  road: BridgedRoad;
  /** Public nodes before the chains. They ration; `liar` answers for `far` as if nothing had ever been paid there. */
  nodes: Record<"home" | "origin" | "far" | "liar", RationedRpc>;
  /**
   * Creates an intent and returns the response. `isBlocked`: it names a payout wallet that the token's issuer blocks
   * later.
   */
  create(isBlocked: boolean): Promise<CreateResponse>;
  /** The service is gone for good, with its database. */
  endService(): Promise<void>;
};

export type CreateResponse = { intentId: string; inboxAddress: Hex; inboxTerms: { recoverAfter: number } };

const FAR_CHAIN_ID = 900_009;
const REQUESTS_A_SECOND = 25;
const GAS_MONEY = 10n ** 19n;

export async function openEvmWorld(): Promise<EvmWorld> {
  const [db, far, empty] = await Promise.all([
    openTestDatabase("pglite"),
    startTestChain({ chainId: FAR_CHAIN_ID }),
    startTestChain({ chainId: FAR_CHAIN_ID }),
  ]);
  const road = await openBridgedRoad({ chains: 2, db });
  const [home, origin] = road.chains as [TestChain, TestChain];
  await far.client.setCode({ address: hubAddress, bytecode: "0x" });
  await far.client.setNonce({ address: hubAddress, nonce: 0 });
  for (const { client } of [home, origin, far])
    for (const { address } of [DEV_ACCOUNTS.payoutFirst, DEV_ACCOUNTS.payoutSecond, DEV_ACCOUNTS.stranger])
      await client.setBalance({ address, value: GAS_MONEY });
  const open = ({ rpcUrl }: TestChain) => openRationedRpc(rpcUrl, REQUESTS_A_SECOND);
  const nodes = {
    home: await open(home),
    origin: await open(origin),
    far: await open(far),
    liar: await open(empty),
  };
  return {
    home,
    origin,
    far,
    road,
    nodes,
    async create(isBlocked) {
      const input = isBlocked ? { payoutWallet: DEV_ACCOUNTS.payoutSecond.address } : {};
      const { intent } = await showIntent.run(road.world, { intentId: (await road.create(home, input)).id });
      const inboxAddress = intent.inboxAddress.toLowerCase() as Hex;
      return { ...(intent as unknown as CreateResponse), inboxAddress };
    },
    endService: () => db.close(),
  };
}

const bridgeAbi = parseAbi([
  "function linkTokenPair(address local, uint32 remoteDomain, address remote)",
  "function addRemoteTokenMessenger(uint32 domain, bytes32 messenger)",
]);
const ADDRESS_DIGITS = 40;

/**
 * Lets the double of Circle's contracts on the payout's chain take burns of Solana. It keeps the last 20 bytes of a
 * mint.
 */
export async function linkSolana(
  { home, road }: EvmWorld,
  { domain, mint, messenger }: { domain: number; mint: Hex; messenger: Hex },
): Promise<void> {
  const contracts = road.sides[0]?.bridge;
  if (contracts === undefined) throw new Error("the payout's chain has no bridge");
  const remote: Hex = `0x${mint.slice(-ADDRESS_DIGITS)}`;
  const link = { functionName: "linkTokenPair", args: [home.usdc.address, domain, remote] } as const;
  const trust = { functionName: "addRemoteTokenMessenger", args: [domain, messenger] } as const;
  await home.send(DEV_ACCOUNTS.issuer, [
    { to: contracts.minter, data: encodeFunctionData({ abi: bridgeAbi, ...link }) },
    { to: contracts.messenger, data: encodeFunctionData({ abi: bridgeAbi, ...trust }) },
  ]);
}

export async function sendCoin({ client }: TestChain, to: Hex, units: bigint): Promise<void> {
  await client.setBalance({ address: to, value: (await client.getBalance({ address: to })) + units });
}

const TRANSFER_TOPIC = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

/** Contracts without balances that log a transfer to the inbox when they are created. */
export async function sendFalseTransfers(chain: TestChain, inbox: Hex, count: number): Promise<void> {
  const creationCode: Hex = `0x73${inbox.slice(2)}5f7f${TRANSFER_TOPIC}5f5fa360005f5260015ff3`;
  const deployments = Array.from({ length: count }, (_, index) => {
    return { creationCode, salt: toMessageAccount(`0x${index.toString(16)}`) as Hex };
  });
  await chain.send(
    DEV_ACCOUNTS.issuer,
    deployments.map((each) => ({ ...deploymentCall(each), gasLimit: 200_000n })),
  );
  const last = deployments.at(-1);
  const code = last && (await chain.client.getCode({ address: deployedAddress(last) }));
  if (code === undefined) throw new Error("the false transfers were not sent");
}
