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
import type { DevAccount } from "../devAccounts.ts";
import { sendCallsOrThrow, sendCalls, type ContractCall, type DevClient } from "./devClient.ts";
import { deployedAddress, deploymentCall, type Deployment } from "./contracts.ts";
import code from "./fiatToken.generated.json" with { type: "json" };

// The tokens of the dev world run the code of USDC on Ethereum: proxy, implementation V2.2 and its library, with
// blocklist, pause and signed transfers.

export const fiatTokenAbi = parseAbi([
  "function initialize(string tokenName, string tokenSymbol, string tokenCurrency, uint8 tokenDecimals, address newMasterMinter, address newPauser, address newBlacklister, address newOwner)",
  "function initializeV2(string newName)",
  "function initializeV2_1(address lostAndFound)",
  "function initializeV2_2(address[] accountsToBlacklist, string newSymbol)",
  "function configureMinter(address minter, uint256 minterAllowedAmount) returns (bool)",
  "function isMinter(address account) view returns (bool)",
  "function mint(address to, uint256 amount) returns (bool)",
  "function blacklist(address account)",
  "function unBlacklist(address account)",
  "function isBlacklisted(address account) view returns (bool)",
  "function pause()",
  "function unpause()",
  "function transfer(address to, uint256 value) returns (bool)",
  "function balanceOf(address account) view returns (uint256)",
  "function name() view returns (string)",
  "function symbol() view returns (string)",
  "function decimals() view returns (uint8)",
  "function version() pure returns (string)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
]);

export interface FiatToken {
  name: string;
  symbol: string;
  /** ISO 4217 code of the currency of one token. */
  currency: string;
  decimals: number;
}

/** A token with its future address on one chain. */
export interface PlannedToken extends FiatToken {
  address: Hex;
  /** Sent by the issuer in this order. Repeated calls revert and change nothing. */
  calls: readonly ContractCall[];
}

const SALT = keccak256(stringToHex("tributary dev world"));
const ADDRESS_BYTES = 20;

const library: Deployment = { creationCode: code.signatureChecker as Hex, salt: SALT };
const implementation: Deployment = { creationCode: linkedImplementation(), salt: SALT };

function linkedImplementation(): Hex {
  const address = deployedAddress(library).slice(2);
  const link = (hex: string, offset: number) => {
    const start = 2 + offset * 2;
    return hex.slice(0, start) + address + hex.slice(start + ADDRESS_BYTES * 2);
  };
  return code.implementationLinkOffsets.reduce(link, code.implementation) as Hex;
}

/** Every call that sets up a token on a new chain, in order, and its future address. */
export function planTokenSetup(chainId: number, issuer: Hex, token: FiatToken): PlannedToken {
  const planned = planFiatToken(chainId, issuer, token);
  return { ...planned, calls: [...planLibraryCalls(), ...planned.calls] };
}

/** The deployments that all tokens of a chain share. */
function planLibraryCalls(): ContractCall[] {
  return [deploymentCall(library), deploymentCall(implementation)];
}

/**
 * Plans address and calls of a token whose minter, owner, pauser and blocklister is the issuer. The address depends on
 * chain and symbol: it is the same in every run and differs between chains, as with real tokens.
 */
function planFiatToken(chainId: number, issuer: Hex, token: FiatToken): PlannedToken {
  const argument = encodeAbiParameters([{ type: "address" }], [deployedAddress(implementation)]);
  const proxy: Deployment = {
    creationCode: concat([code.proxy as Hex, argument]),
    salt: keccak256(stringToHex(`tributary dev world ${chainId} ${token.symbol}`)),
  };
  const to = deployedAddress(proxy);
  const { name, symbol, currency, decimals } = token;
  const roles = [issuer, issuer, issuer, issuer] as const;
  const abi = fiatTokenAbi;
  const data = [
    encodeFunctionData({ abi, functionName: "initialize", args: [name, symbol, currency, decimals, ...roles] }),
    encodeFunctionData({ abi, functionName: "initializeV2", args: [name] }),
    encodeFunctionData({ abi, functionName: "initializeV2_1", args: [issuer] }),
    encodeFunctionData({ abi, functionName: "initializeV2_2", args: [[], symbol] }),
    encodeFunctionData({ abi, functionName: "configureMinter", args: [issuer, maxUint256] }),
  ];
  return { ...token, address: to, calls: [deploymentCall(proxy), ...data.map((each) => ({ to, data: each }))] };
}

/** Whether a token is fully set up: the last two steps make the issuer a minter and blocklist the token itself. */
async function isDeployed(client: DevClient, issuer: Hex, token: Hex): Promise<boolean> {
  const contract = { address: token, abi: fiatTokenAbi } as const;
  try {
    const [mints, initialized] = await Promise.all([
      client.readContract({ ...contract, functionName: "isMinter", args: [issuer] }),
      client.readContract({ ...contract, functionName: "isBlacklisted", args: [token] }),
    ]);
    return mints && initialized;
  } catch {
    // The address has no code yet, or other code.
    return false;
  }
}

/**
 * Deploys a token unless it exists, and returns its address.
 * @throws Error when the token is not set up afterwards.
 */
export async function deployFiatToken(client: DevClient, issuer: DevAccount, token: FiatToken): Promise<Hex> {
  const planned = planFiatToken(await client.getChainId(), issuer.address, token);
  if (await isDeployed(client, issuer.address, planned.address)) return planned.address;
  await sendCalls(client, issuer, [...planLibraryCalls(), ...planned.calls]);
  if (await isDeployed(client, issuer.address, planned.address)) return planned.address;
  throw new Error(`${token.symbol} was not deployed at ${planned.address}`);
}

export function mintCall(token: Hex, to: Hex, amountUnits: bigint): ContractCall {
  return { to: token, data: encodeFunctionData({ abi: fiatTokenAbi, functionName: "mint", args: [to, amountUnits] }) };
}

export function transferCall(token: Hex, to: Hex, amountUnits: bigint): ContractCall {
  const data = encodeFunctionData({ abi: fiatTokenAbi, functionName: "transfer", args: [to, amountUnits] });
  return { to: token, data };
}

/** Blocklists an address: every transfer from or to it reverts. */
export async function blocklist(
  client: DevClient,
  issuer: DevAccount,
  entry: { token: Hex; address: Hex },
): Promise<void> {
  const data = encodeFunctionData({ abi: fiatTokenAbi, functionName: "blacklist", args: [entry.address] });
  await sendCallsOrThrow(client, issuer, [{ to: entry.token, data }]);
}

export async function unblocklist(
  client: DevClient,
  issuer: DevAccount,
  entry: { token: Hex; address: Hex },
): Promise<void> {
  const data = encodeFunctionData({ abi: fiatTokenAbi, functionName: "unBlacklist", args: [entry.address] });
  await sendCallsOrThrow(client, issuer, [{ to: entry.token, data }]);
}

/** In the token's smallest units. */
export function balanceOf(client: DevClient, token: Hex, owner: Hex): Promise<bigint> {
  return client.readContract({ address: token, abi: fiatTokenAbi, functionName: "balanceOf", args: [owner] });
}
