import { firstHubCreationCode } from "@tributary/inbox/firstHubCode";
import { deterministicDeployer } from "@tributary/inbox/hub";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import { currentHub, firstHub, settleItemGas, type Hub } from "@tributary/inbox/hubs";
import { encodeTerms, type Hex, type Terms } from "@tributary/inbox/terms";
import { toFunctionSelector, encodeAddress, encodeUint } from "./abi.ts";
import type { Holding } from "./inspectChain.ts";
import { NATIVE_TOKEN } from "./planRecovery.ts";

/** A call for the wallet to send; it never carries value. */
export type ContractCall = { readonly to: Hex; readonly data: Hex };

export const TERMS_ABI_TYPE = "(bytes32,uint64,address,address,address,uint16,address,uint48,bytes32)";
const SETTLE_SELECTOR = toFunctionSelector(`settle(${TERMS_ABI_TYPE})`);
const SETTLE_MANY_SELECTOR = toFunctionSelector(`settleMany(${TERMS_ABI_TYPE}[],uint256)`);
const FIRST_SETTLE_MANY_SELECTOR = toFunctionSelector(`settleMany(${TERMS_ABI_TYPE}[])`);
const RESCUE_SELECTOR = toFunctionSelector(`rescue(${TERMS_ABI_TYPE},address,address)`);

/** Inboxes settled by one call. A hundred new ones stay well below a transaction's gas limit. */
export const SETTLE_BATCH_MAX = 100;

/**
 * Pays the settle token balances of the inboxes of one hub to their payouts. Anyone may send it. A hub settles several
 * only in tokens, and the native coin alone.
 */
export function buildSettleCall(terms: readonly Terms[], hub: Hub = currentHub): ContractCall {
  const [only] = terms;
  if (only !== undefined && terms.length === 1)
    return { to: hub.address, data: `${SETTLE_SELECTOR}${encodeTerms(only).slice(2)}` };
  const items = `${encodeUint(terms.length)}${terms.map((one) => encodeTerms(one).slice(2)).join("")}`;
  const data: Hex = hub.takesItemGas
    ? `${SETTLE_MANY_SELECTOR}${encodeUint(64)}${encodeUint(settleItemGas)}${items}`
    : `${FIRST_SETTLE_MANY_SELECTOR}${encodeUint(32)}${items}`;
  return { to: hub.address, data };
}

/** Divides holdings to settle into batches that one call of `buildSettleCall` settles. */
export function batchSettlements(holdings: readonly Holding[]): Holding[][] {
  const groups = Map.groupBy(holdings, ({ inbox, token }) =>
    token === NATIVE_TOKEN ? inbox.address : inbox.hub.address,
  );
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / SETTLE_BATCH_MAX) }, (_, index) =>
      group.slice(index * SETTLE_BATCH_MAX, (index + 1) * SETTLE_BATCH_MAX),
    ),
  );
}

/** Whether the call settles several inboxes, each independent of the others. */
export function isSettleManyCall({ data }: ContractCall): boolean {
  return [SETTLE_MANY_SELECTOR, FIRST_SETTLE_MANY_SELECTOR].some((selector) => data.startsWith(selector));
}

/** Moves the whole balance of one token (0: the native coin) out of an inbox. Only its recovery address may send it. */
export function buildRescueCall(
  { terms, hub = currentHub }: { terms: Terms; hub?: Hub },
  token: Hex,
  to: Hex,
): ContractCall {
  const data: Hex = `${RESCUE_SELECTOR}${encodeTerms(terms).slice(2)}${encodeAddress(token)}${encodeAddress(to)}`;
  return { to: hub.address, data };
}

/** Deploys a hub on a chain that lacks it, at the address it has on every chain. Anyone may send it. */
export function buildDeployHubCall(hub: Hub = currentHub): ContractCall {
  const creationCode = hub === firstHub ? firstHubCreationCode : hubCreationCode;
  return { to: deterministicDeployer, data: `${hub.salt}${creationCode.slice(2)}` };
}
