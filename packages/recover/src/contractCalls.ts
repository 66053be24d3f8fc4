import { deterministicDeployer, hubAddress, hubSalt } from "@tributary/inbox/hub";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import { encodeTerms, type Hex, type Terms } from "@tributary/inbox/terms";
import { toFunctionSelector, encodeAddress, encodeUint } from "./abi.ts";

/** A call for the wallet to send; it never carries value. */
export type ContractCall = { readonly to: Hex; readonly data: Hex };

const TERMS_ABI_TYPE = "(bytes32,uint64,address,address,address,uint16,address,uint48,bytes32)";
const SETTLE_SELECTOR = toFunctionSelector(`settle(${TERMS_ABI_TYPE})`);
const SETTLE_MANY_SELECTOR = toFunctionSelector(`settleMany(${TERMS_ABI_TYPE}[])`);
const RESCUE_SELECTOR = toFunctionSelector(`rescue(${TERMS_ABI_TYPE},address,address)`);

/** Inboxes settled by one call. A hundred new ones stay well below a transaction's gas limit. */
export const SETTLE_BATCH_MAX = 100;

/** Pays the settle token balances of the inboxes to their payouts. Anyone may send it. */
export function buildSettleCall(terms: readonly Terms[]): ContractCall {
  const [only] = terms;
  if (only !== undefined && terms.length === 1)
    return { to: hubAddress, data: `${SETTLE_SELECTOR}${encodeTerms(only).slice(2)}` };
  const items = terms.map((one) => encodeTerms(one).slice(2)).join("");
  return { to: hubAddress, data: `${SETTLE_MANY_SELECTOR}${encodeUint(32)}${encodeUint(terms.length)}${items}` };
}

/** Whether the call settles several inboxes, each independent of the others. */
export function isSettleManyCall({ data }: ContractCall): boolean {
  return data.startsWith(SETTLE_MANY_SELECTOR);
}

/** Moves the whole balance of one token (0: the native coin) out of an inbox. Only its recovery address may send it. */
export function buildRescueCall(terms: Terms, token: Hex, to: Hex): ContractCall {
  const data: Hex = `${RESCUE_SELECTOR}${encodeTerms(terms).slice(2)}${encodeAddress(token)}${encodeAddress(to)}`;
  return { to: hubAddress, data };
}

/** Deploys the hub on a chain that lacks it, at the address it has on every chain. Anyone may send it. */
export function buildDeployHubCall(): ContractCall {
  return { to: deterministicDeployer, data: `${hubSalt}${hubCreationCode.slice(2)}` };
}
