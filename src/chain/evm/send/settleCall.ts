import { hubAbi } from "@tributary/inbox/hubAbi";
import { encodeTerms, type Hex } from "@tributary/inbox/terms";
import { decodeFunctionResult, encodeFunctionData, toFunctionSelector } from "viem";
import { ProviderFailed } from "../../reader.ts";
import type { SettleItem } from "../../sender.ts";
import type { EvmCall } from "../node.ts";

const SUCCESS_SELECTOR = "0x00000000";
const NO_SALT: Hex = `0x${"0".repeat(64)}`;

/** A call of the hub. With `reportsItems` its result names the items that fail; without, a failure reverts the call. */
export type SettleCall = Pick<EvmCall, "to" | "data"> & { reportsItems: boolean };

/** The hub's error names by selector, for readable refusals. */
const errorNames = new Map(
  hubAbi.flatMap((item) => (item.type === "error" ? [[selectorOf(item.name, item.inputs), item.name] as const] : [])),
);

function selectorOf(name: string, inputs: readonly { readonly type: string }[]): string {
  return toFunctionSelector(`${name}(${inputs.map((input) => input.type).join(",")})`);
}

/** Encodes the settlement of one inbox, or of several in one transaction, each independent. All belong to the same hub. */
export function settleCall(items: readonly SettleItem[]): SettleCall {
  const [only] = items;
  if (items.length !== 1 || only === undefined) return settleManyCall(items);
  const data = encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [only.terms] });
  return { to: only.hub, data, reportsItems: false };
}

/** Always encodes settleMany, whose result reports each item. */
export function settleManyCall(items: readonly SettleItem[]): SettleCall {
  const terms = items.map((item) => item.terms);
  return {
    to: items[0]?.hub ?? "",
    data: encodeFunctionData({ abi: hubAbi, functionName: "settleMany", args: [terms] }),
    reportsItems: true,
  };
}

/** Encodes settleNetted: one payout and one fee for all items. Their terms differ only in the salt. */
export function settleNettedCall(items: readonly [SettleItem, ...SettleItem[]]): SettleCall {
  const [{ hub, terms }] = items;
  const args = [terms, items.map((item) => item.terms.salt)] as const;
  return {
    to: hub,
    data: encodeFunctionData({ abi: hubAbi, functionName: "settleNetted", args }),
    reportsItems: true,
  };
}

/** Equal for items that one netted settlement can settle. */
export function sharedTermsKey({ hub, terms }: SettleItem): string {
  return `${hub}/${encodeTerms({ ...terms, salt: NO_SALT })}`;
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
