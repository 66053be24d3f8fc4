import { hubAbi } from "@tributary/inbox/hubAbi";
import { decodeFunctionResult, encodeFunctionData, toFunctionSelector, type Hex } from "viem";
import { ProviderFailed, type ChainCall } from "../chain/driver.ts";
import { toInboxTerms } from "../intent/inboxTerms.ts";
import type { IntentRow } from "../intent/store.ts";

const SUCCESS_SELECTOR = "0x00000000";

/** Names of the hub's errors by selector, so that a refusal can be told in words. */
const errorNames = new Map(
  hubAbi.flatMap((item) => (item.type === "error" ? [[selectorOf(item.name, item.inputs), item.name] as const] : [])),
);

function selectorOf(name: string, inputs: readonly { readonly type: string }[]): string {
  return toFunctionSelector(`${name}(${inputs.map((input) => input.type).join(",")})`);
}

/** Settles one inbox, or several in one transaction, each on its own. All are inboxes of the same hub. */
export function settleCall(hub: string, intents: readonly IntentRow[]): ChainCall {
  const [only] = intents;
  if (intents.length !== 1 || only === undefined) return settleManyCall(hub, intents);
  return { to: hub, data: encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [toInboxTerms(only)] }) };
}

/** Always by settleMany, whose answer says of each item whether it would settle. */
export function settleManyCall(hub: string, intents: readonly IntentRow[]): ChainCall {
  return {
    to: hub,
    data: encodeFunctionData({ abi: hubAbi, functionName: "settleMany", args: [intents.map(toInboxTerms)] }),
  };
}

/** For each item why it would fail, undefined where it would settle. Throws ProviderFailed for bytes that the hub never answers. */
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
