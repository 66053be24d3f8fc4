import { checksumAddress } from "@tributary/inbox/checksum";
import { hubs } from "@tributary/inbox/hubs";
import { zeroAddress, type Hex } from "@tributary/inbox/terms";
import { findTokenAccount } from "../../chain/solana/tokenAccount.ts";
import { caip10, caip19, caip2, displayAddress } from "../../kernel/caip.ts";
import { constant, oneOf, pinned, requireIntent, showAmount, showText, storeAmount, time, toStored } from "./fields.ts";
import { defineFormat, type Field, type Stored } from "./format.ts";
import type { PinnedIntent } from "./pinnedIntent.ts";

const AMOUNTS = [
  "receivedUnits",
  "countedUnits",
  "remainingUnits",
  "shortfallUnits",
  "excessUnits",
  "settledUnits",
  "feeUnits",
  "netUnits",
] as const;

/** Null, except for payouts on Solana, where an inbox has a token account. */
const onSolana = (name: string, show: (intent: PinnedIntent) => string) =>
  pinned(name, (intent) => (intent.payout_namespace === "solana" ? show(intent) : undefined));

/** The first format of an intent. */
export const intentFormat1 = defineFormat([
  constant("object", "payment_intent"),
  pinned("intentId", ({ id }) => id),
  pinned("inboxAddress", (intent) => displayAddress(chainOf(intent), intent.inbox_address)),
  onSolana("tokenAccount", (intent) => tokenAccountOf(intent, intent.inbox_address)),
  onSolana("mint", (intent) => intent.payout_token),
  onSolana("program", (intent) => intent.inbox_hub),
  constant("created", false),
  pinned("livemode", ({ livemode }) => livemode),
  oneOf("status", ["active", "settled", "archived"]),
  oneOf("paymentStatus", ["unpaid", "partial", "paid", "overpaid"]),
  pinned("priceUnits", ({ price_units: units }) => (units === null ? null : Number(units))),
  pinned("oneTime", (intent) => intent.one_time),
  pinned("merchantReference", (intent) => intent.merchant_reference),
  pinned("metadata", ({ metadata }) => metadata),
  pinned("returnUrl", (intent) => intent.return_url),
  pinned("description", ({ description }) => description),
  pinned("payout", showPayout),
  pinned("feeBps", (intent) => intent.fee_bps),
  amounts(),
  inboxTerms(),
  checkoutUrl(),
  pinned("createdAt", (intent) => intent.created_at.toISOString()),
  time("updatedAt"),
  time("settledAt"),
  time("archivedAt"),
]);

function chainOf({ payout_namespace: namespace, payout_chain_reference: reference }: PinnedIntent) {
  return caip2(namespace, reference);
}

function tokenAccountOf({ payout_token: mint, inbox_implementation: tokenProgram }: PinnedIntent, owner: string) {
  return findTokenAccount({ owner, mint, tokenProgram });
}

function showPayout(intent: PinnedIntent): object {
  const chain = chainOf(intent);
  return {
    namespace: intent.payout_namespace,
    chainReference: intent.payout_chain_reference,
    wallet: displayAddress(chain, intent.payout_wallet),
    tokenAddress: displayAddress(chain, intent.payout_token),
    decimals: intent.payout_decimals,
    railId: intent.rail_id,
    caip10: caip10(chain, intent.payout_wallet),
    caip19: caip19(chain, intent.payout_token),
  };
}

/** The list of all amounts that can change. */
function amounts(): Field {
  return {
    name: "amounts",
    store: (value) => AMOUNTS.map((name) => storeAmount(Reflect.get(value as object, name))),
    show: (stored, { intent }) => {
      const list = Array.isArray(stored) ? (stored as Stored[]) : [];
      return {
        priceUnits: requireIntent(intent).price_token_units?.toString() ?? null,
        ...Object.fromEntries(AMOUNTS.map((name, index) => [name, showAmount(list[index] ?? null)])),
      };
    },
  };
}

/** Stores the version of the published hub. */
function inboxTerms(): Field {
  return {
    name: "inboxTerms",
    store: (value) => toStored(Reflect.get(value as object, "version")),
    show: (stored, { intent }) => showTerms(requireIntent(intent), Number(stored)),
  };
}

function showTerms(intent: PinnedIntent, version: number): object {
  const isEvm = intent.payout_namespace === "eip155";
  const address = (text: string) => checksumAddress(text as Hex);
  const hub = hubs.find((published) => published.version === version);
  const evmOnly = (text: string) => address(isEvm ? text : zeroAddress);
  const terms = {
    version,
    // Of a payout on Solana, the event stores which hub it is.
    hub: address(isEvm ? intent.inbox_hub : (hub?.address ?? zeroAddress)),
    implementation: address(isEvm ? intent.inbox_implementation : (hub?.implementation ?? zeroAddress)),
    salt: intent.inbox_salt,
    settleChainId: isEvm ? intent.payout_chain_reference : "0",
    settleToken: evmOnly(intent.payout_token),
    payout: evmOnly(intent.payout_wallet),
    feeRecipient: evmOnly(intent.fee_recipient),
    feeBps: isEvm ? intent.fee_bps : 0,
    recovery: address(isEvm ? intent.recovery : (intent.hop_recovery ?? zeroAddress)),
    recoverAfter: Number(intent.recover_after),
    routesRoot: intent.routes_root,
  };
  return isEvm ? terms : { ...terms, solana: showSolanaTerms(intent) };
}

function showSolanaTerms(intent: PinnedIntent): object {
  return {
    version: 1,
    program: intent.inbox_hub,
    tokenProgram: intent.inbox_implementation,
    kind: "pay",
    salt: intent.inbox_salt,
    mint: intent.payout_token,
    payout: intent.payout_wallet,
    feeAccount: tokenAccountOf(intent, intent.fee_recipient),
    feeBps: intent.fee_bps,
    rentRecipient: intent.rent_recipient ?? "",
    recovery: intent.recovery,
    recoverAfter: Number(intent.recover_after),
  };
}

/** Stores the part before the intent's id: the public URL of this service may change. */
function checkoutUrl(): Field {
  return {
    name: "checkoutUrl",
    store: (value) => String(value).slice(0, String(value).lastIndexOf("/") + 1),
    show: (stored, { intent }) => `${showText(stored)}${requireIntent(intent).id}`,
  };
}
