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

// The tokens of the dev world run the code that USDC runs on Ethereum: proxy, implementation V2.2 and its library, with
// blocklist, pause and signed transfers. What works here works there.

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
  /** ISO 4217 of what one token is worth. */
  currency: string;
  decimals: number;
}

/** A token as it will stand on one chain. */
export interface PlannedToken extends FiatToken {
  address: Hex;
  /** In this order, from the issuer. Those that were done before revert, and change nothing. */
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

/** What has to happen once on a chain before any token can be created there. */
function planLibraryCalls(): ContractCall[] {
  return [deploymentCall(library), deploymentCall(implementation)];
}

/**
 * Address and calls of a token whose only minter, owner, pauser and blocklister is the issuer. The address depends on chain and
 * symbol: it is the same in every run, and differs from chain to chain, as real tokens' addresses do.
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

/** Whether the last two steps of a token's making are done: it mints for the issuer, and V2.2 blocklists the token itself. */
async function isDeployed(client: DevClient, issuer: Hex, token: Hex): Promise<boolean> {
  const contract = { address: token, abi: fiatTokenAbi } as const;
  try {
    const [mints, initialized] = await Promise.all([
      client.readContract({ ...contract, functionName: "isMinter", args: [issuer] }),
      client.readContract({ ...contract, functionName: "isBlacklisted", args: [token] }),
    ]);
    return mints && initialized;
  } catch {
    // Nothing stands there yet, or nothing that can answer.
    return false;
  }
}

/**
 * Puts a token onto a chain and returns its address; does only what is still missing.
 * @throws Error when the token does not work afterwards.
 */
export async function deployFiatToken(client: DevClient, issuer: DevAccount, token: FiatToken): Promise<Hex> {
  const planned = planFiatToken(await client.getChainId(), issuer.address, token);
  if (await isDeployed(client, issuer.address, planned.address)) return planned.address;
  await sendCalls(client, issuer, [...planLibraryCalls(), ...planned.calls]);
  if (await isDeployed(client, issuer.address, planned.address)) return planned.address;
  throw new Error(`${token.symbol} did not come to work at ${planned.address}`);
}

export function mintCall(token: Hex, to: Hex, amountUnits: bigint): ContractCall {
  return { to: token, data: encodeFunctionData({ abi: fiatTokenAbi, functionName: "mint", args: [to, amountUnits] }) };
}

export function transferCall(token: Hex, to: Hex, amountUnits: bigint): ContractCall {
  const data = encodeFunctionData({ abi: fiatTokenAbi, functionName: "transfer", args: [to, amountUnits] });
  return { to: token, data };
}

/** From here on the token moves neither from nor to the address: every transfer of it reverts. */
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
