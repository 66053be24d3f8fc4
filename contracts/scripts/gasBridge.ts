import { encodeFunctionData, keccak256, parseAbi, stringToHex } from "viem";
import type { Hex } from "viem";
import { computeInboxAddress } from "../../packages/inbox/src/address.ts";
import { cctpV2Speeds, decodeCctpV2Config } from "../../packages/inbox/src/cctpV2.ts";
import { buildCctpV2Routes } from "../../packages/inbox/src/cctpV2Routes.ts";
import { hubAddress } from "../../packages/inbox/src/hub.generated.ts";
import { hubAbi } from "../../packages/inbox/src/hubAbi.generated.ts";
import { computeRouteProof, computeRoutesRoot } from "../../packages/inbox/src/routes.ts";
import type { Terms } from "../../packages/inbox/src/terms.ts";
import { evmSide } from "../../src/dev/attestation/attestedSide.ts";
import { LocalAttestation } from "../../src/dev/attestation/localAttestation.ts";
import { deployLocalBridge, localBridge, type BridgeSide } from "../../src/dev/chains/bridge.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { TestChain } from "../../test/support/chain.ts";

// Measures burns, and receipts that settle. Hub, adapter and token are the real ones. Messenger, minter and transmitter
// are doubles with the issuer's functions and checks and not its code, so the figures are not those of a public
// network.

/** What the same calls cost with the issuer's own contracts, version 2.1, measured once by hand. */
export const ISSUER_GAS = {
  burnFirst: 188_800,
  burnRepeat: 153_800,
  receiveStandardFirst: 231_500,
  receiveStandardRepeat: 190_300,
  receiveFastFirst: 246_000,
  receiveFastRepeat: 205_000,
} as const;

/** How much of the issuer's figure a call may cost. */
export const ISSUER_GAS_PARTS_MAX = 1.02;

/**
 * `relay`: the bridge's own receipt alone, in a transaction of its own. The rest of a receipt that settles is the
 * hub's.
 */
type BridgeFigures = Record<keyof typeof ISSUER_GAS | "relayStandard" | "relayFast", number>;
type BridgeOptions = { terms: Terms; depositUnits: bigint };
type Crossing = { burn: number; receive: number };

const transmitterAbi = parseAbi(["function receiveMessage(bytes message, bytes attestation) returns (bool success)"]);

/**
 * `terms`: those of an inbox that settles on `home`, without routes. Payout and fee recipient must have balances there.
 */
export async function measureBridge(home: TestChain, away: TestChain, options: BridgeOptions): Promise<BridgeFigures> {
  const sides = [home, away].map(({ chainId, client, usdc }, domain): BridgeSide => {
    return { chainId, client, token: usdc.address, bridge: localBridge(chainId, domain) };
  });
  await deployLocalBridge(sides);
  // The bridge has charged fees before.
  await home.pay(home.usdc.address, DEV_ACCOUNTS.attester.address, { amountUnits: options.depositUnits });
  const attestation = new LocalAttestation(sides.map(evmSide), () => Number.MAX_SAFE_INTEGER);
  const standard = createInbox([home, away], options, "standard");
  const fast = createInbox([home, away], options, "fast");
  const crossOnce = (inbox: BridgedInbox) => cross({ home, away, attestation, inbox });
  const relayOnce = (inbox: BridgedInbox) => relay({ home, away, attestation, inbox });
  const [standardFirst, standardRepeat] = [await crossOnce(standard), await crossOnce(standard)];
  const [fastFirst, fastRepeat] = [await crossOnce(fast), await crossOnce(fast)];
  return {
    burnFirst: fastFirst.burn,
    burnRepeat: fastRepeat.burn,
    receiveStandardFirst: standardFirst.receive,
    receiveStandardRepeat: standardRepeat.receive,
    receiveFastFirst: fastFirst.receive,
    receiveFastRepeat: fastRepeat.receive,
    relayStandard: await relayOnce(standard),
    relayFast: await relayOnce(fast),
  };
}

type BridgedInbox = { terms: Terms; burn: Hex; depositUnits: bigint };

function createInbox(
  [home, away]: readonly [home: TestChain, away: TestChain],
  { terms: base, depositUnits }: BridgeOptions,
  speed: keyof typeof cctpV2Speeds,
): BridgedInbox {
  const { messenger } = localBridge(away.chainId, 1);
  const routes = buildCctpV2Routes({
    settle: { chainId: BigInt(home.chainId), domain: 0 },
    origins: [{ chainId: BigInt(away.chainId), messenger, usdc: away.usdc.address }],
  });
  const { finalityThresholdMin } = cctpV2Speeds[speed];
  const index = routes.findIndex(
    ({ config }) => decodeCctpV2Config(config).finalityThresholdMin === finalityThresholdMin,
  );
  const route = routes[index];
  if (!route) throw new Error(`no route is ${speed}`);
  const terms = { ...base, salt: keccak256(stringToHex(speed)), routesRoot: computeRoutesRoot(routes) };
  const args = [terms, route, computeRouteProof(routes, index), "0x"] as const;
  return { terms, burn: encodeFunctionData({ abi: hubAbi, functionName: "bridge", args }), depositUnits };
}

type BridgeWorld = { home: TestChain; away: TestChain; attestation: LocalAttestation; inbox: BridgedInbox };

/** Pays into the inbox on `away`, and takes it to the payout on `home`. */
async function cross(world: BridgeWorld): Promise<Crossing> {
  const { home, inbox } = world;
  const { terms } = inbox;
  const { burn, message, attestation } = await burnAndSign(world);
  const before = await home.balanceOf(home.usdc.address, terms.payout);
  const args = [localBridge(home.chainId, 0).transmitter, message, attestation, terms] as const;
  const data = encodeFunctionData({ abi: hubAbi, functionName: "receiveAndSettle", args });
  const receive = await call(home, { to: hubAddress, data });
  if ((await home.balanceOf(home.usdc.address, terms.payout)) <= before) throw new Error("nothing was settled");
  return { burn, receive: Number(receive.gasUsed) };
}

/** Gas of a receipt that only fills the inbox on `home`. */
async function relay(world: BridgeWorld): Promise<number> {
  const { home } = world;
  const { message, attestation } = await burnAndSign(world);
  const args = [message, attestation] as const;
  const data = encodeFunctionData({ abi: transmitterAbi, functionName: "receiveMessage", args });
  return Number((await call(home, { to: localBridge(home.chainId, 0).transmitter, data })).gasUsed);
}

async function burnAndSign({ away, attestation, inbox }: BridgeWorld) {
  const address = computeInboxAddress(inbox.terms);
  await away.pay(away.usdc.address, address, { amountUnits: inbox.depositUnits });
  const burn = await call(away, { to: hubAddress, data: inbox.burn });
  await away.finalize();
  const [signed] = await attestation.messagesOf(1, burn.transactionHash);
  if (signed?.status !== "complete") throw new Error("the burn was not signed");
  return { burn: Number(burn.gasUsed), message: signed.message, attestation: signed.attestation as Hex };
}

async function call(chain: TestChain, { to, data }: { to: Hex; data: Hex }) {
  const [receipt] = await chain.send(DEV_ACCOUNTS.payer, [{ to, data, gasLimit: 16_000_000n }]);
  if (receipt?.status !== "success") throw new Error("a transaction reverted");
  return receipt;
}
