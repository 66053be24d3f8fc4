import { hubAbi } from "@tributary/inbox/hubAbi";
import { findHub, settleItemGas } from "@tributary/inbox/hubs";
import { encodeTerms, type Hex, type Terms } from "@tributary/inbox/terms";
import { decodeFunctionResult, encodeFunctionData, parseAbi, toFunctionSelector } from "viem";
import { ProviderFailed } from "../../reader.ts";
import type { SettleItem } from "../../sender.ts";
import type { EvmCall } from "../node.ts";

/** The calls of the first hub for several inboxes, which give an inbox as much gas as the transaction has left. */
const firstHubAbi = parseAbi([
  "struct Terms { bytes32 salt; uint64 settleChainId; address settleToken; address payout; address feeRecipient; uint16 feeBps; address recovery; uint48 recoverAfter; bytes32 routesRoot; }",
  "function settleMany(Terms[] items) returns (bytes4[] failures)",
  "function settleNetted(Terms shared, bytes32[] salts) returns (bytes4[] failures)",
]);

const SUCCESS_SELECTOR = "0x00000000";
const NO_SALT: Hex = `0x${"0".repeat(64)}`;

/** A call of the hub. `failuresIn` finds in its result what did not happen; other failures revert the call. */
export type SettleCall = Pick<EvmCall, "to" | "data"> & {
  failuresIn: (result: string) => readonly (string | undefined)[];
};

const NO_FAILURES = () => [];

/** The hub's error names by selector, for readable refusals. */
const errorNames = new Map(
  hubAbi.flatMap((item) => (item.type === "error" ? [[selectorOf(item.name, item.inputs), item.name] as const] : [])),
);

function selectorOf(name: string, inputs: readonly { readonly type: string }[]): string {
  return toFunctionSelector(`${name}(${inputs.map((input) => input.type).join(",")})`);
}

/**
 * Encodes the settlement of one inbox, or of several in one transaction, each independent. All belong to the same hub.
 */
export function settleCall(items: readonly SettleItem[]): SettleCall {
  const [only] = items;
  if (items.length !== 1 || only === undefined) return settleManyCall(items);
  // Without a gas limit for the item. Both hubs take the same call.
  const data = encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [evmTerms(only)] });
  return { to: only.hub, data, failuresIn: NO_FAILURES };
}

/** Always encodes settleMany, whose result reports each item. */
export function settleManyCall(items: readonly SettleItem[]): SettleCall {
  const hub = hubOf(items);
  const terms = items.map(evmTerms);
  const functionName = "settleMany";
  const data = takesItemGas(hub)
    ? encodeFunctionData({ abi: hubAbi, functionName, args: [terms, settleItemGas] })
    : encodeFunctionData({ abi: firstHubAbi, functionName, args: [terms] });
  return { to: hub, data, failuresIn: decodeFailures };
}

/** Encodes settleNetted: one payout and one fee for all items. Their terms differ only in the salt. */
export function settleNettedCall(items: readonly [SettleItem, ...SettleItem[]]): SettleCall {
  const hub = hubOf(items);
  const terms = evmTerms(items[0]);
  const salts = items.map((item) => item.terms.salt);
  const functionName = "settleNetted";
  const data = takesItemGas(hub)
    ? encodeFunctionData({ abi: hubAbi, functionName, args: [terms, salts, settleItemGas] })
    : encodeFunctionData({ abi: firstHubAbi, functionName, args: [terms, salts] });
  return { to: hub, data, failuresIn: decodeFailures };
}

/** Simulated by start-up: a hub that answers it has everything that settling needs. */
export function settleNothingCall(hub: string): SettleCall {
  const args = [[], settleItemGas] as const;
  return {
    to: hub,
    data: encodeFunctionData({ abi: hubAbi, functionName: "settleMany", args }),
    failuresIn: decodeFailures,
  };
}

/** The hub of a batch. Throws when items of several hubs are mixed, which no transaction can settle. */
function hubOf(items: readonly SettleItem[]): string {
  const [hub = "", ...others] = new Set(items.map((item) => item.hub));
  if (others.length > 0) throw new Error(`a batch mixes the hubs ${hub} and ${others.join(", ")}`);
  return hub;
}

/** Hubs that this release does not know are older than the first published one, and take its calls. */
function takesItemGas(hub: string): boolean {
  return findHub(hub)?.takesItemGas ?? false;
}

/** Equal for items that one netted settlement can settle. */
export function sharedTermsKey(item: SettleItem): string {
  return `${item.hub}/${encodeTerms({ ...evmTerms(item), salt: NO_SALT })}`;
}

/** The terms of an inbox on an EVM chain. Throws for those of another kind of chain, whose inboxes no hub settles. */
export function evmTerms({ inbox, terms }: SettleItem): Terms {
  if ("kind" in terms) throw new Error(`the terms of inbox ${inbox} are not those of an EVM chain`);
  return terms;
}

/** Decodes why each item would fail, undefined where it would settle. Throws ProviderFailed for malformed bytes. */
export function decodeFailures(result: string): (string | undefined)[] {
  return decodeSettleMany(result).map((selector) =>
    selector === SUCCESS_SELECTOR ? undefined : (errorNames.get(selector) ?? selector),
  );
}

/** `settleNetted` returns the same type. */
function decodeSettleMany(result: string): readonly string[] {
  try {
    return decodeFunctionResult({ abi: hubAbi, functionName: "settleMany", data: result as Hex });
  } catch (error) {
    throw new ProviderFailed("bad_answer", "the hub's answer cannot be read", { cause: error });
  }
}
