import { cctpV2AdapterAddress } from "@tributary/inbox/cctpV2Adapter";
import { hubAddress, hubCodeHash } from "@tributary/inbox/hub";
import { findNetwork, type Network, type NetworkCctp, type NetworkToken } from "../../../config/networks/network.ts";
import { CallReverted, type EvmNode } from "../node.ts";
import { ProviderFailed } from "../../reader.ts";
import { parseQuantity } from "../rpc/rpcValues.ts";
import { readDecimals, readSymbol } from "../tokenDetails.ts";
import { hasTransientStorage, measureSlotGas, readCodeHash } from "./probes.ts";

// Compares each field of the catalogue that a chain can tell with the chain itself.

/** One compared field. `differs` is a sentence; `missing`: a contract of this project that is not deployed yet. */
export type NetworkComparison = { field: string; state: "same" | "differs" | "missing"; text: string };

/** The transfer of a fee gets 200,000 gas, and the token's own work needs up to 60,000 of it. */
const SLOT_GAS_MAX = 140_000n;
const LOCAL_DOMAIN = "0x8d3638f4";
const LOCAL_MESSAGE_TRANSMITTER = "0x2c121921";
const ADDRESS_DIGITS = 40;

export type ComparedNode = Pick<EvmNode, "identify" | "call" | "hasCode" | "head">;
type Compare = (node: ComparedNode, network: Network) => Promise<NetworkComparison>;

const same = (field: string, text: string): NetworkComparison => ({ field, state: "same", text });
const differs = (field: string, text: string): NetworkComparison => ({ field, state: "differs", text });

/** Throws ProviderFailed when the node does not answer. On another chain only the chain id is compared. */
export async function compareNetwork(node: ComparedNode, network: Network): Promise<NetworkComparison[]> {
  const chainId = await compareChainId(node, network);
  if (chainId.state !== "same") return [chainId];
  const { tokens, cctp } = network;
  const compared: Compare[] = [
    ...tokens.flatMap((token) => [compareDecimals(token), compareSymbol(token)]),
    compareHub,
    ...(cctp === undefined ? [] : [compareAdapter, compareDomain(cctp), compareTransmitter(cctp)]),
    compareTransientStorage,
    compareSlotGas,
    ...usedTags(network).map(compareTag),
  ];
  const results: NetworkComparison[] = [chainId];
  // One after the other: public nodes refuse bursts.
  for (const compare of compared) results.push(await compare(node, network));
  return results;
}

/** What differs of a network's entry, for the tokens that are used. Undefined for a network without an entry. */
export async function findNetworkDifferences(
  node: ComparedNode & Pick<EvmNode, "caip2">,
  usedTokens: readonly string[],
): Promise<string[] | undefined> {
  const network = findNetwork(node.caip2);
  if (network === undefined) return undefined;
  const tokens = network.tokens.filter(({ address }) => usedTokens.includes(address.toLowerCase()));
  const compared = await compareNetwork(node, { ...network, tokens });
  return compared.filter(({ state }) => state === "differs").map(({ text }) => text);
}

async function compareChainId(node: ComparedNode, { caip2, name }: Network): Promise<NetworkComparison> {
  const { caip2: found } = await node.identify();
  const field = "chain id";
  if (found === caip2) return same(field, caip2);
  return differs(field, `The node serves ${found}, and ${name} is ${caip2}.`);
}

function compareDecimals({ symbol, address, decimals }: NetworkToken): Compare {
  return async (node) => {
    const field = `${symbol} decimals`;
    const found = await readDecimals(node, address);
    if (found === decimals) return same(field, String(decimals));
    return differs(
      field,
      found === undefined
        ? `There is no token at ${address}, where the catalogue has ${symbol}.`
        : `${symbol} at ${address} has ${found} decimals, and the catalogue has ${decimals}.`,
    );
  };
}

function compareSymbol({ symbol, address }: NetworkToken): Compare {
  return async (node) => {
    const field = `${symbol} symbol`;
    const found = await readSymbol(node, address);
    if (found !== undefined && plainSymbol(found) === plainSymbol(symbol)) return same(field, found);
    const calls = found === undefined ? "tells no symbol" : `calls itself ${found}`;
    return differs(field, `The token at ${address} ${calls}, and the catalogue has ${symbol}.`);
  };
}

/** Tether writes its name with a sign of its own. */
function plainSymbol(symbol: string): string {
  return symbol.replaceAll("₮", "T").toLowerCase();
}

const compareHub: Compare = async (node) => {
  const field = "hub";
  const hash = await readCodeHash(node, hubAddress);
  if (hash === hubCodeHash) return same(field, hubAddress);
  if (hash === undefined)
    return { field, state: "missing", text: `No hub at ${hubAddress} yet: tributary hub deploy puts it there.` };
  return differs(field, `The code at ${hubAddress} is another one than the hub of this release.`);
};

const compareAdapter: Compare = async (node) => {
  const field = "adapter";
  if (await node.hasCode(cctpV2AdapterAddress)) return same(field, cctpV2AdapterAddress);
  const text = `No bridge adapter at ${cctpV2AdapterAddress} yet: tributary hub deploy puts it there.`;
  return { field, state: "missing", text };
};

function compareDomain({ domain, transmitter }: NetworkCctp): Compare {
  return async (node) => {
    const field = "CCTP domain";
    const found = await callOrUndefined(node, transmitter, LOCAL_DOMAIN);
    const number = found === undefined ? undefined : parseQuantity(found, "a domain");
    if (number === BigInt(domain)) return same(field, String(domain));
    return differs(
      field,
      number === undefined
        ? `There is no transmitter at ${transmitter}, which the catalogue has for CCTP domain ${domain}.`
        : `The transmitter at ${transmitter} has CCTP domain ${number}, and the catalogue has ${domain}.`,
    );
  };
}

function compareTransmitter({ messenger, transmitter }: NetworkCctp): Compare {
  return async (node) => {
    const field = "CCTP messenger";
    const found = await callOrUndefined(node, messenger, LOCAL_MESSAGE_TRANSMITTER);
    const address = found === undefined ? undefined : `0x${found.slice(-ADDRESS_DIGITS).toLowerCase()}`;
    if (address === transmitter.toLowerCase()) return same(field, messenger);
    const sends = address === undefined ? "There is no messenger" : `It sends by ${address}`;
    return differs(field, `${sends} at ${messenger}, and the catalogue has one that sends by ${transmitter}.`);
  };
}

async function callOrUndefined(node: ComparedNode, to: string, data: string): Promise<string | undefined> {
  try {
    const answer = await node.call({ to, data });
    return answer === "0x" ? undefined : answer;
  } catch (error) {
    if (error instanceof CallReverted) return undefined;
    throw error;
  }
}

const compareTransientStorage: Compare = async (node, { name }) => {
  const field = "transient storage";
  if (await hasTransientStorage(node)) return same(field, "there");
  return differs(field, `${name} has no transient storage (EIP-1153), without which the hub cannot settle.`);
};

const compareSlotGas: Compare = async (node, { name }) => {
  const field = "new storage slot";
  const gas = await measureSlotGas(node);
  if (gas <= SLOT_GAS_MAX) return same(field, `${gas} gas`);
  return differs(
    field,
    `A new storage slot costs ${gas} gas on ${name}, and above ${SLOT_GAS_MAX} the hub's fee transfer cannot pay a new holder.`,
  );
};

function usedTags({ finality }: Network): ("safe" | "finalized")[] {
  return [...new Set(finality.flatMap(({ tag }) => tag ?? []))];
}

function compareTag(tag: "safe" | "finalized"): Compare {
  return async (node, { name }) => {
    const field = `${tag} block`;
    try {
      return same(field, String((await node.head(tag)).number));
    } catch (error) {
      if (!(error instanceof ProviderFailed) || error.kind !== "unknown_block") throw error;
      return differs(field, `${name} knows no ${tag} block, on which its finality rests in the catalogue.`);
    }
  };
}
