import { hexToBytes, bytesToHex } from "@noble/hashes/utils";
import { keccak_256 } from "@noble/hashes/sha3";
import { deterministicDeployer, hubAddress, hubCodeHash } from "@tributary/inbox/hub";
import type { Hex } from "@tributary/inbox/terms";
import { findNumber, findText, readQuantity, selectorOf, wordOfAddress } from "./abi.ts";
import { NATIVE } from "./plan.ts";
import type { KnownInbox } from "./records.ts";

/** Asks a chain one thing: `request` of a browser's wallet, or a JSON-RPC client. Rejects when the chain refuses. */
export type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>;

export type Holding = {
  readonly inbox: KnownInbox;
  /** Lower case; the zero address is the native coin. */
  readonly token: Hex;
  readonly symbol: string;
  readonly decimals: number;
  readonly units: bigint;
};

/** What stands at the hub's address: nothing yet, the hub, or (on a chain that computes addresses in its own way) something else. */
export type HubState = "absent" | "present" | "foreign";

export type Sight = {
  readonly chainId: bigint;
  /** Time of the newest block, Unix seconds: what the contract compares with. */
  readonly timestamp: number;
  readonly hub: HubState;
  /** Whether the hub can be put there: the deterministic deployer stands on almost every chain. */
  readonly isDeployable: boolean;
  /** In the order of the inboxes; nothing is listed that is zero. */
  readonly holdings: readonly Holding[];
  /** False when the chain refused to search its past for tokens, so that only the tokens asked for were looked at. */
  readonly isSearched: boolean;
};

export type LookOptions = {
  /** Tokens to look at besides the settle tokens and whatever the chain's past shows. */
  readonly tokens: readonly Hex[];
  /** First block that is searched for tokens that were sent to the inboxes. */
  readonly fromBlock: bigint;
  readonly onProgress?: (done: number, total: number) => void;
};

const TRANSFER = `0x${bytesToHex(keccak_256(new TextEncoder().encode("Transfer(address,address,uint256)")))}`;
const BALANCE_OF = selectorOf("balanceOf(address)");
const SYMBOL = selectorOf("symbol()");
const DECIMALS = selectorOf("decimals()");
/** Nodes of the Geth family take a thousand topics in one place; half of that is taken everywhere. */
const TOPICS_MAX = 500;
/** Whoever floods an inbox with worthless tokens must not be able to hide the others: by count, then by age. */
const TOKENS_MAX = 200;
/** Balances that are asked for at once. */
const AT_ONCE = 20;

/** What one chain holds for the inboxes, read from nothing but the chain. */
export async function lookAt(ask: Ask, inboxes: readonly KnownInbox[], options: LookOptions): Promise<Sight> {
  const chainId = readQuantity(await ask("eth_chainId", []), "its id");
  const block = await ask("eth_getBlockByNumber", ["latest", false]);
  const timestamp = Number(readQuantity(fieldOf(block, "timestamp"), "its time"));
  const found = await searchTokens(ask, inboxes, options.fromBlock);
  const places = inboxes.flatMap((inbox) => {
    const home = inbox.terms.settleChainId === chainId ? [inbox.terms.settleToken] : [];
    const seen = found?.get(inbox.address) ?? [];
    return [...new Set([NATIVE, ...home, ...options.tokens, ...seen])].map((token) => ({ inbox, token }));
  });
  const holdings: Holding[] = [];
  const facts = new Map<Hex, Promise<TokenFacts>>();
  for (let start = 0; start < places.length; start += AT_ONCE) {
    const some = places.slice(start, start + AT_ONCE).map((place) => findHolding(ask, place, facts));
    holdings.push(...(await Promise.all(some)).filter((holding) => holding !== undefined));
    options.onProgress?.(Math.min(start + AT_ONCE, places.length), places.length);
  }
  const [hub, deployer] = await Promise.all([hubState(ask), codeAt(ask, deterministicDeployer)]);
  return { chainId, timestamp, hub, isDeployable: deployer !== "0x", holdings, isSearched: found !== undefined };
}

type TokenFacts = { symbol: string; decimals: number };
type Place = { inbox: KnownInbox; token: Hex };

async function findHolding(ask: Ask, { inbox, token }: Place, facts: Map<Hex, Promise<TokenFacts>>) {
  const units = await balanceOf(ask, token, inbox.address);
  if (units === 0n) return undefined;
  const told = facts.get(token) ?? describeToken(ask, token);
  facts.set(token, told);
  return { inbox, token, units, ...(await told) };
}

/** Zero too where something else than a token stands: what has no balance to read has none to recover. */
export async function balanceOf(ask: Ask, token: Hex, owner: Hex): Promise<bigint> {
  if (token === NATIVE) return readQuantity(await ask("eth_getBalance", [owner, "latest"]), "a balance");
  const data = `${BALANCE_OF}${wordOfAddress(owner)}`;
  const answer = await ask("eth_call", [{ to: token, data }, "latest"]).catch(refusedCall);
  return findNumber(answer) ?? 0n;
}

async function describeToken(ask: Ask, token: Hex): Promise<TokenFacts> {
  if (token === NATIVE) return { symbol: "native coin", decimals: 18 };
  const asked = (data: Hex) => ask("eth_call", [{ to: token, data }, "latest"]).catch(refusedCall);
  const [symbol, decimals] = await Promise.all([asked(SYMBOL), asked(DECIMALS)]);
  const places = findNumber(decimals) ?? 0n;
  return { symbol: findText(symbol) ?? "?", decimals: places <= 36n ? Number(places) : 0 };
}

/** A contract that reverts says nothing; a chain that is not reached is another matter, and ends the look. */
function refusedCall(error: unknown): undefined {
  const text = error instanceof Error ? error.message : JSON.stringify(error);
  if (/revert|invalid|execution|opcode|out of gas|halt/i.test(text)) return undefined;
  throw error;
}

/**
 * The tokens that were ever sent to each inbox, from the transfers that the tokens themselves tell of. Undefined when the
 * chain refuses a search that wide.
 */
async function searchTokens(ask: Ask, inboxes: readonly KnownInbox[], fromBlock: bigint) {
  const found = new Map<Hex, Set<Hex>>();
  for (let start = 0; start < inboxes.length; start += TOPICS_MAX) {
    const receivers = inboxes.slice(start, start + TOPICS_MAX).map(({ address }) => `0x${wordOfAddress(address)}`);
    const filter = { fromBlock: `0x${fromBlock.toString(16)}`, toBlock: "latest", topics: [TRANSFER, null, receivers] };
    const logs = await ask("eth_getLogs", [filter]).catch(() => undefined);
    if (!Array.isArray(logs)) return undefined;
    for (const log of logs) note(found, log);
  }
  return found;
}

function note(found: Map<Hex, Set<Hex>>, log: unknown): void {
  const token = fieldOf(log, "address");
  const topics = fieldOf(log, "topics");
  const receiver: unknown = Array.isArray(topics) ? topics[2] : undefined;
  if (typeof token !== "string" || typeof receiver !== "string") return;
  const inbox: Hex = `0x${receiver.slice(-40).toLowerCase()}`;
  const tokens = found.get(inbox) ?? new Set();
  if (tokens.size < TOKENS_MAX) tokens.add(`0x${token.slice(2).toLowerCase()}`);
  found.set(inbox, tokens);
}

async function hubState(ask: Ask): Promise<HubState> {
  const code = await codeAt(ask, hubAddress);
  if (code === "0x") return "absent";
  const hash = bytesToHex(keccak_256(hexToBytes(code.slice(2))));
  return `0x${hash}` === hubCodeHash ? "present" : "foreign";
}

async function codeAt(ask: Ask, address: Hex): Promise<string> {
  const code = await ask("eth_getCode", [address, "latest"]);
  return typeof code === "string" ? code : "0x";
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
}
