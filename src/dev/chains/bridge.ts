import { cctpV2AdapterCreationCode, cctpV2AdapterSalt } from "@tributary/inbox/cctpV2Adapter";
import {
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  maxUint256,
  parseAbi,
  stringToHex,
  type Hex,
} from "viem";
import { DEV_ACCOUNTS } from "../devAccounts.ts";
import { deployedAddress, deploymentCall, type Deployment } from "./contracts.ts";
import { sendCallsOrThrow, type ContractCall, type DevClient } from "./devClient.ts";
import { fiatTokenAbi } from "./tokens.ts";
import code from "./cctpDoubles.generated.json" with { type: "json" };

// The bridge of the dev world: doubles of Circle's messenger, minter and transmitter, with the same functions, checks
// and words. Each chain has its own, so their addresses differ, as those of its tokens do.

const bridgeAbi = parseAbi([
  "function setMessenger(address messenger)",
  "function setBurnLimit(address token, uint256 units)",
  "function linkTokenPair(address local, uint32 remoteDomain, address remote)",
  "function addRemoteTokenMessenger(uint32 domain, bytes32 messenger)",
  "function setMinFee(uint256 minFee)",
  "function denylist(address account)",
  "function unDenylist(address account)",
  "function pause()",
  "function unpause()",
]);

/** As Circle's: ten million USDC a message. */
const BURN_LIMIT_UNITS = 10_000_000_000_000n;

export type LocalBridge = { domain: number; messenger: Hex; minter: Hex; transmitter: Hex };

/** One chain of a bridge, with the token that crosses. Addresses in lower case. */
export type BridgeSide = { chainId: number; client: DevClient; token: Hex; bridge: LocalBridge };

type PlannedBridge = LocalBridge & { deployments: readonly Deployment[] };

/** The bridge's contracts on a chain, whether or not they are deployed. */
export function localBridge(chainId: number, domain: number): LocalBridge {
  const { deployments: _, ...bridge } = planBridge(chainId, domain);
  return bridge;
}

function planBridge(chainId: number, domain: number): PlannedBridge {
  const salt = keccak256(stringToHex(`tributary dev bridge ${chainId}`));
  const deployment = (creationCode: string, types: readonly string[], values: readonly unknown[]): Deployment => ({
    creationCode: concat([
      creationCode as Hex,
      encodeAbiParameters(
        types.map((type) => ({ type })),
        values,
      ),
    ]),
    salt,
  });
  const { attester } = DEV_ACCOUNTS;
  const transmitter = deployment(code.transmitter, ["uint32", "address"], [domain, attester.address]);
  const minter = deployment(code.minter, [], []);
  const parts = [deployedAddress(transmitter), deployedAddress(minter), attester.address];
  const messenger = deployment(code.messenger, ["address", "address", "address"], parts);
  return {
    domain,
    messenger: deployedAddress(messenger),
    minter: deployedAddress(minter),
    transmitter: deployedAddress(transmitter),
    deployments: [transmitter, minter, messenger],
  };
}

/** A chain of another kind: Circle's messenger and its token there, as 32 bytes. */
export type ForeignSide = { domain: number; messenger: Hex; token: Hex };

/** Deploys adapter and bridge on every side and links them all, also with the foreign ones. What exists stays. */
export async function deployLocalBridge(
  sides: readonly BridgeSide[],
  foreign: readonly ForeignSide[] = [],
): Promise<void> {
  const known = sides.map(({ token, bridge: { domain, messenger } }): ForeignSide => {
    return { domain, messenger: toWord(messenger), token: toWord(token) };
  });
  await Promise.all(sides.map((side) => deploySide(side, [...known, ...foreign])));
}

async function deploySide({ chainId, client, token, bridge }: BridgeSide, all: readonly ForeignSide[]): Promise<void> {
  const adapter: Deployment = { creationCode: cctpV2AdapterCreationCode, salt: cctpV2AdapterSalt };
  const deployments = [adapter, ...planBridge(chainId, bridge.domain).deployments];
  const codes = await Promise.all(deployments.map((each) => client.getCode({ address: deployedAddress(each) })));
  const missing = deployments.filter((_, index) => codes[index] === undefined);
  const others = all.filter(({ domain }) => domain !== bridge.domain);
  // Setting a value again changes nothing.
  await sendCallsOrThrow(client, DEV_ACCOUNTS.issuer, [
    ...missing.map(deploymentCall),
    {
      to: token,
      data: encodeFunctionData({
        abi: fiatTokenAbi,
        functionName: "configureMinter",
        args: [bridge.minter, maxUint256],
      }),
    },
    { to: bridge.minter, data: encodeBridge("setMessenger", [bridge.messenger]) },
    { to: bridge.minter, data: encodeBridge("setBurnLimit", [token, BURN_LIMIT_UNITS]) },
    ...others.flatMap((other): ContractCall[] => [
      // The double compares the last twenty bytes of a token.
      { to: bridge.minter, data: encodeBridge("linkTokenPair", [token, other.domain, `0x${other.token.slice(-40)}`]) },
      { to: bridge.messenger, data: encodeBridge("addRemoteTokenMessenger", [other.domain, other.messenger]) },
    ]),
  ]);
}

/** The least fee of every burn, in ten-millionths of its units; 0 at first. */
export function setMinFeeCall({ messenger }: LocalBridge, minFee: bigint): ContractCall {
  return { to: messenger, data: encodeBridge("setMinFee", [minFee]) };
}

/** The most units that one burn of a token takes. */
export function setBurnLimitCall({ minter }: LocalBridge, token: Hex, units: bigint): ContractCall {
  return { to: minter, data: encodeBridge("setBurnLimit", [token, units]) };
}

/** Puts an account on the bridge's denylist: it can burn nothing more. */
export function denylistCall({ messenger }: LocalBridge, account: Hex): ContractCall {
  return { to: messenger, data: encodeBridge("denylist", [account]) };
}

/** Takes an account off the denylist. */
export function undenylistCall({ messenger }: LocalBridge, account: Hex): ContractCall {
  return { to: messenger, data: encodeBridge("unDenylist", [account]) };
}

/** Stops or resumes all burns from a chain and all receipts on it. */
export function setPausedCall({ transmitter }: LocalBridge, isPaused: boolean): ContractCall {
  return { to: transmitter, data: encodeBridge(isPaused ? "pause" : "unpause", []) };
}

type BridgeFunction = (typeof bridgeAbi)[number]["name"];

function encodeBridge(functionName: BridgeFunction, args: readonly unknown[]): Hex {
  return encodeFunctionData({ abi: bridgeAbi, functionName, args } as Parameters<typeof encodeFunctionData>[0]);
}

function toWord(address: Hex): Hex {
  return `0x${address.slice(2).padStart(64, "0")}`;
}
