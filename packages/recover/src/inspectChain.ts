import { hexToBytes, bytesToHex } from "@noble/hashes/utils";
import { keccak_256 } from "@noble/hashes/sha3";
import { deterministicDeployer } from "@tributary/inbox/hub";
import type { Hub } from "@tributary/inbox/hubs";
import type { Hex } from "@tributary/inbox/terms";
import { decodeUint, decodeString, parseQuantity, toFunctionSelector, encodeAddress } from "./abi.ts";
import { NATIVE_TOKEN } from "./planRecovery.ts";
import type { VerifiedInbox } from "./parseInboxes.ts";

/** Sends one JSON-RPC request, through a browser's wallet or a client. Rejects when the chain refuses. */
export type RpcRequester = (method: string, params: readonly unknown[]) => Promise<unknown>;

export type Holding = {
  readonly inbox: VerifiedInbox;
  /** Lower case; the zero address is the native coin. */
  readonly token: Hex;
  readonly symbol: string;
  readonly decimals: number;
  readonly units: bigint;
};

/** The code at the hub's address: none, the hub, or other code (on a chain with its own address computation). */
export type HubState = "absent" | "present" | "foreign";

export type ChainInspection = {
  readonly chainId: bigint;
  /** The time of the newest block in Unix seconds, which the contract uses. */
  readonly timestamp: number;
  /** The state of the hub of these inboxes; with several, of the one that is farthest from present. */
  readonly hub: HubState;
  /** The hubs of these inboxes that are absent here. */
  readonly absentHubs: readonly Hub[];
  /** Whether the hub can be deployed: the deterministic deployer exists on almost every chain. */
  readonly canDeployHub: boolean;
  /** Nonzero balances, in the order of the inboxes. */
  readonly holdings: readonly Holding[];
  /** False when the chain refused the log search, so that only the named tokens were checked. */
  readonly isTokenSearchComplete: boolean;
};

export type InspectOptions = {
  /** Tokens to check besides the settle tokens, those of the routes, and those found in the chain's logs. */
  readonly tokens: readonly Hex[];
  /** The first block of the search for tokens that were sent to the inboxes. */
  readonly fromBlock: bigint;
  readonly onProgress?: (done: number, total: number) => void;
};

/** From the worst to the best. */
const HUB_STATES: readonly HubState[] = ["foreign", "absent", "present"];
const TRANSFER_TOPIC = `0x${bytesToHex(keccak_256(new TextEncoder().encode("Transfer(address,address,uint256)")))}`;
const BALANCE_OF_SELECTOR = toFunctionSelector("balanceOf(address)");
const SYMBOL_SELECTOR = toFunctionSelector("symbol()");
const DECIMALS_SELECTOR = toFunctionSelector("decimals()");
/** Geth and its relatives accept a thousand topics in one position; all chains accept half of that. */
const TOPICS_MAX = 500;
/** The most tokens per inbox, oldest first, so that a later flood of worthless tokens cannot hide earlier ones. */
const TOKENS_MAX = 200;
/** Balances read concurrently. */
const CONCURRENT_READS_MAX = 20;

/** Reads what one chain holds for the inboxes, from the chain alone. */
export async function inspectChain(
  request: RpcRequester,
  inboxes: readonly VerifiedInbox[],
  options: InspectOptions,
): Promise<ChainInspection> {
  const chainId = parseQuantity(await request("eth_chainId", []), "its id");
  const block = await request("eth_getBlockByNumber", ["latest", false]);
  const timestamp = Number(parseQuantity(readField(block, "timestamp"), "its time"));
  const receivedTokens = await findReceivedTokens(request, inboxes, options.fromBlock);
  const queries = inboxes.flatMap((inbox) => {
    const settleTokens = inbox.terms.settleChainId === chainId ? [inbox.terms.settleToken] : [];
    const routed = (inbox.routes ?? []).filter((route) => route.chainId === chainId).map(({ token }) => token);
    const received = receivedTokens?.get(inbox.address) ?? [];
    return [...new Set([NATIVE_TOKEN, ...settleTokens, ...routed, ...options.tokens, ...received])].map((token) => ({
      inbox,
      token,
    }));
  });
  const holdings: Holding[] = [];
  const metadata = new Map<Hex, Promise<TokenMetadata>>();
  for (let start = 0; start < queries.length; start += CONCURRENT_READS_MAX) {
    const batch = queries
      .slice(start, start + CONCURRENT_READS_MAX)
      .map((place) => readHolding(request, place, metadata));
    holdings.push(...(await Promise.all(batch)).filter((holding) => holding !== undefined));
    options.onProgress?.(Math.min(start + CONCURRENT_READS_MAX, queries.length), queries.length);
  }
  const hubs = [...new Set(inboxes.map((inbox) => inbox.hub))];
  const [states, deployer] = await Promise.all([
    Promise.all(hubs.map((hub) => readHubState(request, hub))),
    readCode(request, deterministicDeployer),
  ]);
  return {
    chainId,
    timestamp,
    hub: HUB_STATES.find((state) => states.includes(state)) ?? "present",
    absentHubs: hubs.filter((_, index) => states[index] === "absent"),
    canDeployHub: deployer !== "0x",
    holdings,
    isTokenSearchComplete: receivedTokens !== undefined,
  };
}

type TokenMetadata = { symbol: string; decimals: number };
type BalanceQuery = { inbox: VerifiedInbox; token: Hex };

async function readHolding(
  request: RpcRequester,
  { inbox, token }: BalanceQuery,
  metadataCache: Map<Hex, Promise<TokenMetadata>>,
) {
  const units = await readBalance(request, token, inbox.address);
  if (units === 0n) return undefined;
  const metadata = metadataCache.get(token) ?? readTokenMetadata(request, token);
  metadataCache.set(token, metadata);
  return { inbox, token, units, ...(await metadata) };
}

/** Returns zero for an address that is not a token: without a readable balance nothing can be recovered. */
export async function readBalance(request: RpcRequester, token: Hex, owner: Hex): Promise<bigint> {
  if (token === NATIVE_TOKEN) return parseQuantity(await request("eth_getBalance", [owner, "latest"]), "a balance");
  const data = `${BALANCE_OF_SELECTOR}${encodeAddress(owner)}`;
  const response = await request("eth_call", [{ to: token, data }, "latest"]).catch(ignoreRevert);
  return decodeUint(response) ?? 0n;
}

async function readTokenMetadata(request: RpcRequester, token: Hex): Promise<TokenMetadata> {
  if (token === NATIVE_TOKEN) return { symbol: "native coin", decimals: 18 };
  const callToken = (data: Hex) => request("eth_call", [{ to: token, data }, "latest"]).catch(ignoreRevert);
  const [symbol, decimals] = await Promise.all([callToken(SYMBOL_SELECTOR), callToken(DECIMALS_SELECTOR)]);
  const places = decodeUint(decimals) ?? 0n;
  return { symbol: decodeString(symbol) ?? "?", decimals: places <= 36n ? Number(places) : 0 };
}

/** A revert means that the contract lacks the function. Other errors mean an unreachable chain and end the inspection. */
function ignoreRevert(error: unknown): undefined {
  const text = error instanceof Error ? error.message : JSON.stringify(error);
  if (/revert|invalid|execution|opcode|out of gas|halt/i.test(text)) return undefined;
  throw error;
}

/**
 * Finds the tokens that were ever sent to each inbox, from the tokens' Transfer events. Returns undefined when the chain refuses such a
 * wide search.
 */
async function findReceivedTokens(request: RpcRequester, inboxes: readonly VerifiedInbox[], fromBlock: bigint) {
  const found = new Map<Hex, Set<Hex>>();
  for (let start = 0; start < inboxes.length; start += TOPICS_MAX) {
    const receivers = inboxes.slice(start, start + TOPICS_MAX).map(({ address }) => `0x${encodeAddress(address)}`);
    const filter = {
      fromBlock: `0x${fromBlock.toString(16)}`,
      toBlock: "latest",
      topics: [TRANSFER_TOPIC, null, receivers],
    };
    const logs = await request("eth_getLogs", [filter]).catch(() => undefined);
    if (!Array.isArray(logs)) return undefined;
    for (const log of logs) addTransferLog(found, log);
  }
  return found;
}

function addTransferLog(found: Map<Hex, Set<Hex>>, log: unknown): void {
  const token = readField(log, "address");
  const topics = readField(log, "topics");
  const receiver: unknown = Array.isArray(topics) ? topics[2] : undefined;
  if (typeof token !== "string" || typeof receiver !== "string") return;
  const inbox: Hex = `0x${receiver.slice(-40).toLowerCase()}`;
  const tokens = found.get(inbox) ?? new Set();
  if (tokens.size < TOKENS_MAX) tokens.add(`0x${token.slice(2).toLowerCase()}`);
  found.set(inbox, tokens);
}

export async function readHubState(request: RpcRequester, hub: Hub): Promise<HubState> {
  const code = await readCode(request, hub.address);
  if (code === "0x") return "absent";
  const hash = bytesToHex(keccak_256(hexToBytes(code.slice(2))));
  return `0x${hash}` === hub.codeHash ? "present" : "foreign";
}

async function readCode(request: RpcRequester, address: Hex): Promise<string> {
  const code = await request("eth_getCode", [address, "latest"]);
  return typeof code === "string" ? code : "0x";
}

function readField(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
}
