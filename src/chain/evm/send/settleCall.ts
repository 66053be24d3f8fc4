import { hubAbi } from "@tributary/inbox/hubAbi";
import { decodeFunctionResult, encodeFunctionData, toFunctionSelector, type Hex } from "viem";
import { ProviderFailed } from "../../reader.ts";
import type { SettleItem } from "../../sender.ts";
import type { EvmCall } from "../node.ts";

const SUCCESS_SELECTOR = "0x00000000";

/** The hub's error names by selector, for readable refusals. */
const errorNames = new Map(
  hubAbi.flatMap((item) => (item.type === "error" ? [[selectorOf(item.name, item.inputs), item.name] as const] : [])),
);

function selectorOf(name: string, inputs: readonly { readonly type: string }[]): string {
  return toFunctionSelector(`${name}(${inputs.map((input) => input.type).join(",")})`);
}

/** Encodes the settlement of one inbox, or of several in one transaction, each independent. All belong to the same hub. */
export function settleCall(items: readonly SettleItem[]): EvmCall {
  const [only] = items;
  if (items.length !== 1 || only === undefined) return settleManyCall(items);
  return { to: only.hub, data: encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [only.terms] }) };
}

/** Always encodes settleMany, whose result reports each item. */
export function settleManyCall(items: readonly SettleItem[]): EvmCall {
  const terms = items.map((item) => item.terms);
  return {
    to: items[0]?.hub ?? "",
    data: encodeFunctionData({ abi: hubAbi, functionName: "settleMany", args: [terms] }),
  };
}

/** Decodes why each item would fail, undefined where it would settle. Throws ProviderFailed for malformed bytes. */
export function decodeFailures(result: string): (string | undefined)[] {
  return decodeSettleMany(result).map((selector) =>
    selector === SUCCESS_SELECTOR ? undefined : (errorNames.get(selector) ?? selector),
  );
}

function decodeSettleMany(result: string): readonly string[] {
  try {
    return decodeFunctionResult({ abi: hubAbi, functionName: "settleMany", data: result as Hex });
  } catch (error) {
    throw new ProviderFailed("bad_answer", "the hub's answer cannot be read", { cause: error });
  }
}
