import { hexToBytes, bytesToHex } from "@noble/hashes/utils";
import { keccak_256 } from "@noble/hashes/sha3";
import type { CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { deterministicDeployer } from "@tributary/inbox/hub";
import type { Hub } from "@tributary/inbox/hubs";
import type { Hex } from "@tributary/inbox/terms";
import { parseQuantity } from "./abi.ts";
import { searchBurns, type FoundBurns } from "./bridge/searchBurns.ts";
import { findReceivedTokens } from "./findReceivedTokens.ts";
import { NATIVE_TOKEN } from "./planRecovery.ts";
import type { VerifiedInbox } from "./parseInboxes.ts";
import { readBalances, readMetadata } from "./readBalances.ts";
import { openContractReader } from "./rpc/askContracts.ts";
import type { RpcRequester } from "./rpc/rpcRequester.ts";
import { openLogSearch } from "./rpc/searchLogs.ts";
import { readField } from "./readField.ts";

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
  /**
   * False when the chain refused the log search, so that only the named tokens were checked, or when balances stayed
   * unread.
   */
  readonly isTokenSearchComplete: boolean;
  /** Balances of tokens in the logs that stayed unread, because there are too many. */
  readonly skippedBalances: number;
  /** What the inboxes burned here for their payout's chain, received there or not. */
  readonly burned: FoundBurns;
};

export type InspectOptions = {
  /** Tokens to check besides the settle tokens, those of the routes, and those found in the chain's logs. */
  readonly tokens: readonly Hex[];
  /** The first block of the search for tokens that were sent to the inboxes, and for their burns. */
  readonly fromBlock: bigint;
  /** Circle's contracts on chains that this release does not know. */
  readonly bridges?: readonly CctpV2Chain[];
  readonly onProgress?: (done: number, total: number) => void;
};

/** From the worst to the best. */
const HUB_STATES: readonly HubState[] = ["foreign", "absent", "present"];

/** Reads what one chain holds for the inboxes, from the chain alone. */
export async function inspectChain(
  request: RpcRequester,
  inboxes: readonly VerifiedInbox[],
  options: InspectOptions,
): Promise<ChainInspection> {
  const chainId = parseQuantity(await request("eth_chainId", []), "its id");
  const block = await request("eth_getBlockByNumber", ["latest", false]);
  const timestamp = Number(parseQuantity(readField(block, "timestamp"), "its time"));
  const head = parseQuantity(readField(block, "number"), "its newest block");
  const search = openLogSearch(request, { fromBlock: options.fromBlock, head });
  const received = await findReceivedTokens(
    search,
    inboxes.map(({ address }) => address),
  );
  const queries = inboxes.flatMap((inbox) => {
    const settleTokens = inbox.terms.settleChainId === chainId ? [inbox.terms.settleToken] : [];
    const routed = (inbox.routes ?? []).filter((route) => route.chainId === chainId).map(({ token }) => token);
    const found = received.tokens.get(inbox.address) ?? [];
    const tokens = new Set([NATIVE_TOKEN, ...settleTokens, ...routed, ...options.tokens, ...found]);
    return [...tokens].map((token) => ({ inbox, token, owner: inbox.address }));
  });
  const contracts = openContractReader(request);
  const { units, skipped } = await readBalances({ request, contracts }, queries, options.onProgress);
  const held = queries.flatMap((query, index) => {
    const balance = units[index] ?? 0n;
    return balance === 0n ? [] : [{ inbox: query.inbox, token: query.token, units: balance }];
  });
  const metadata = await readMetadata(contracts, [...new Set(held.map(({ token }) => token))]);
  const skippedBalances = received.skipped + skipped;
  return {
    chainId,
    timestamp,
    ...(await readHubs(request, inboxes)),
    holdings: held.map((each) => ({ ...each, ...(metadata.get(each.token) ?? UNKNOWN_TOKEN) })),
    isTokenSearchComplete: received.isComplete && skippedBalances === 0,
    skippedBalances,
    burned: await searchBurns(search, inboxes, { chainId, bridges: options.bridges ?? [] }),
  };
}

const UNKNOWN_TOKEN = { symbol: "?", decimals: 0 };

async function readHubs(
  request: RpcRequester,
  inboxes: readonly VerifiedInbox[],
): Promise<Pick<ChainInspection, "hub" | "absentHubs" | "canDeployHub">> {
  const hubs = [...new Set(inboxes.map((inbox) => inbox.hub))];
  const [states, deployer] = await Promise.all([
    Promise.all(hubs.map((hub) => readHubState(request, hub))),
    readCode(request, deterministicDeployer),
  ]);
  return {
    hub: HUB_STATES.find((state) => states.includes(state)) ?? "present",
    absentHubs: hubs.filter((_, index) => states[index] === "absent"),
    canDeployHub: deployer !== "0x",
  };
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
