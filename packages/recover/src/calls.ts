import { deterministicDeployer, hubAddress, hubSalt } from "@tributary/inbox/hub";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import { encodeTerms, type Hex, type Terms } from "@tributary/inbox/terms";
import { selectorOf, wordOfAddress, wordOfNumber } from "./abi.ts";

/** What a wallet is asked to send; it never carries value. */
export type Call = { readonly to: Hex; readonly data: Hex };

const TERMS = "(bytes32,uint64,address,address,address,uint16,address,uint48,bytes32)";
const SETTLE = selectorOf(`settle(${TERMS})`);
const SETTLE_MANY = selectorOf(`settleMany(${TERMS}[])`);
const RESCUE = selectorOf(`rescue(${TERMS},address,address)`);

/** Inboxes that one call settles: a hundred fresh ones stay well below what a transaction may use. */
export const SETTLE_MAX = 100;

/** Pays whatever the inboxes hold of their settle token to their payouts. Anyone may send it. */
export function settleCall(terms: readonly Terms[]): Call {
  const [only] = terms;
  if (only !== undefined && terms.length === 1)
    return { to: hubAddress, data: `${SETTLE}${encodeTerms(only).slice(2)}` };
  const items = terms.map((one) => encodeTerms(one).slice(2)).join("");
  return { to: hubAddress, data: `${SETTLE_MANY}${wordOfNumber(32)}${wordOfNumber(terms.length)}${items}` };
}

/** Moves the whole balance of one token (0: the native coin) out of an inbox. Only its recovery address may send it. */
export function rescueCall(terms: Terms, token: Hex, to: Hex): Call {
  const data: Hex = `${RESCUE}${encodeTerms(terms).slice(2)}${wordOfAddress(token)}${wordOfAddress(to)}`;
  return { to: hubAddress, data };
}

/** Puts the hub onto a chain where it is missing, at the address that it has everywhere. Anyone may send it. */
export function deployHubCall(): Call {
  return { to: deterministicDeployer, data: `${hubSalt}${hubCreationCode.slice(2)}` };
}
