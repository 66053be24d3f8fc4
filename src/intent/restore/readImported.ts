import { computeInboxAddress } from "@tributary/inbox/address";
import { parseAddress } from "@tributary/inbox/checksum";
import { computeRoutesRoot, type Route } from "@tributary/inbox/routes";
import type { SolanaInboxTerms } from "@tributary/inbox/solana/wire";
import { solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import { zeroBytes32, type Hex } from "@tributary/inbox/terms";
import { hubFromWire, routesFromWire, termsFromWire, type InboxRoute, type InboxTerms } from "@tributary/inbox/wire";
import type { Asset, Catalog } from "../../catalog/catalog.ts";
import { addressFormatOf } from "../../chain/namespaces.ts";
import { computeSolanaInboxAddress } from "../../chain/solana/intentInbox.ts";
import { isSolanaChainConfig, type Config } from "../../config/config.ts";
import type { Namespace } from "../../kernel/caip.ts";
import { idPattern } from "../../kernel/ids.ts";
import { toInboxTerms } from "../inboxTerms.ts";
import type { InboxPins } from "../pins/pinInbox.ts";
import type { NewIntent } from "../store.ts";

// An intent from the response of its create, which the merchant kept. The address is computed from the terms; the rest
// is taken as it is told, because nothing proves it.

/** The entry is no intent of this service. The message completes "the intent … is not imported:". */
export class ImportRefused extends Error {
  override readonly name = "ImportRefused";
}

export type ImportedEntry = Readonly<Record<string, unknown>>;

/** What the terms decide. */
type Pins = InboxPins &
  Pick<
    NewIntent,
    | "payout_namespace"
    | "payout_chain_reference"
    | "payout_wallet"
    | "payout_token"
    | "fee_bps"
    | "recover_after"
    | "routes_root"
    | "inbox_salt"
  >;

/** What is taken as it is told. */
type Told = Pick<
  NewIntent,
  | "id"
  | "livemode"
  | "price_units"
  | "one_time"
  | "merchant_reference"
  | "metadata"
  | "return_url"
  | "description"
  | "created_at"
>;

export type ImportedIntent = {
  row: Pins & Told;
  asset: Asset;
  status: "active" | "settled" | "archived";
  /** In the order of the root; undefined where the entry shows only the root. */
  routes: readonly Route[] | undefined;
  /** The terms of its inboxes on Solana, for a payout on an EVM chain. */
  hops: readonly SolanaInboxTerms[];
};

type ImportWorld = { config: Pick<Config, "chains" | "environment">; catalog: Catalog };

/** Reads an entry and computes its address again. Throws ImportRefused. */
export function readImported({ config, catalog }: ImportWorld, entry: ImportedEntry): ImportedIntent {
  try {
    const told = readTold(entry);
    if (told.livemode !== (config.environment === "live"))
      throw new ImportRefused(`it was made in ${told.livemode ? "live" : "test"}, and this service is the other one`);
    const terms = objectAt(entry, "inboxTerms");
    const pins = terms["solana"] === undefined ? readEvmPins(terms) : readSolanaPins(terms, entry, config);
    if (parseInbox(pins.payout_namespace, textAt(entry, "inboxAddress")) !== pins.inbox_address)
      throw new ImportRefused(`its terms determine the inbox ${pins.inbox_address}, which is another one`);
    const asset = catalog.assets.find(
      ({ namespace, reference, token }) =>
        namespace === pins.payout_namespace && reference === pins.payout_chain_reference && token === pins.payout_token,
    );
    if (asset === undefined)
      throw new ImportRefused(`its payout token ${pins.payout_token} is not configured on its chain`);
    return { row: { ...told, ...pins }, asset, status: readStatus(entry), ...readRoutes(terms, pins) };
  } catch (error) {
    if (error instanceof RangeError) throw new ImportRefused(error.message);
    throw error;
  }
}

function readEvmPins(wire: ImportedEntry): Pins {
  const [hub, terms] = [hubFromWire(wire as InboxTerms), termsFromWire(wire as InboxTerms)];
  if (hub === undefined) throw new ImportRefused("this release does not know its hub");
  const pins = {
    payout_namespace: "eip155",
    payout_chain_reference: terms.settleChainId.toString(),
    payout_wallet: terms.payout,
    payout_token: terms.settleToken,
    fee_bps: terms.feeBps,
    fee_recipient: terms.feeRecipient,
    recovery: terms.recovery,
    recover_after: BigInt(terms.recoverAfter),
    rent_recipient: null,
    routes_root: terms.routesRoot,
    inbox_salt: terms.salt,
    inbox_hub: hub.address,
    inbox_implementation: hub.implementation,
  } as const;
  return { ...pins, inbox_address: computeInboxAddress(toInboxTerms(pins), hub) };
}

function readSolanaPins(wire: ImportedEntry, entry: ImportedEntry, { chains }: Pick<Config, "chains">): Pins {
  const solana = objectAt(wire, "solana") as SolanaInboxTerms;
  const terms = solanaTermsFromWire(solana);
  if (terms.kind !== "pay") throw new ImportRefused("its terms on Solana pay nobody");
  const reference = textAt(objectAt(entry, "payout"), "chainReference");
  const chain = chains
    .filter(isSolanaChainConfig)
    .find(({ caip2, program }) => caip2 === `solana:${reference}` && program === solana.program);
  if (chain === undefined) throw new ImportRefused("its cluster is not configured with its inbox program");
  const pins = {
    payout_namespace: "solana",
    payout_chain_reference: reference,
    payout_wallet: terms.payout,
    payout_token: terms.mint,
    fee_bps: terms.feeBps,
    // The terms name the wallet's token account; another wallet leads to another address.
    fee_recipient: chain.feeRecipient,
    recovery: terms.recovery,
    recover_after: BigInt(terms.recoverAfter),
    rent_recipient: terms.rentRecipient,
    // Its inbox on EVM chains, which can only cross, is not restored.
    routes_root: zeroBytes32,
    inbox_salt: terms.salt,
    inbox_hub: solana.program,
    inbox_implementation: solana.tokenProgram,
  } as const;
  return { ...pins, inbox_address: computeSolanaInboxAddress(pins) };
}

function readRoutes(wire: ImportedEntry, { routes_root }: Pins): Pick<ImportedIntent, "routes" | "hops"> {
  const hops = Array.isArray(wire["solanaRoutes"]) ? (wire["solanaRoutes"] as SolanaInboxTerms[]) : [];
  if (routes_root === zeroBytes32) return { routes: [], hops };
  if ((wire["routes"] ?? undefined) === undefined) return { routes: undefined, hops };
  const routes = routesFromWire(wire["routes"] as InboxRoute[]);
  if (computeRoutesRoot(routes) !== routes_root)
    throw new ImportRefused("its routes do not have the root of its terms");
  return { routes, hops };
}

function readTold(entry: ImportedEntry): Told {
  const id = textAt(entry, "intentId");
  if (!new RegExp(idPattern("pi")).test(id)) throw new ImportRefused("its id is no id of an intent");
  const { priceUnits, metadata } = entry;
  if (priceUnits !== null && (typeof priceUnits !== "number" || !Number.isSafeInteger(priceUnits) || priceUnits < 1))
    throw new ImportRefused("it lacks priceUnits; give the whole response of its create");
  const createdAt = new Date(textAt(entry, "createdAt"));
  if (Number.isNaN(createdAt.getTime())) throw new ImportRefused("createdAt is no time");
  return {
    id,
    livemode: entry["livemode"] === true,
    price_units: priceUnits === null ? null : BigInt(priceUnits),
    one_time: entry["oneTime"] === true,
    merchant_reference: optionalTextAt(entry, "merchantReference"),
    metadata: typeof metadata === "object" ? metadata : null,
    return_url: optionalTextAt(entry, "returnUrl"),
    description: optionalTextAt(entry, "description"),
    created_at: createdAt,
  };
}

function readStatus({ status }: ImportedEntry): ImportedIntent["status"] {
  return status === "settled" || status === "archived" ? status : "active";
}

function parseInbox(namespace: Namespace, text: string): string | undefined {
  return namespace === "eip155" ? parseAddress(text) : addressFormatOf(namespace).parse(text);
}

function objectAt(entry: ImportedEntry, name: string): ImportedEntry {
  const value = entry[name];
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as ImportedEntry;
  throw new ImportRefused(`it lacks ${name}; give the whole response of its create`);
}

function textAt(entry: ImportedEntry, name: string): string {
  const text = optionalTextAt(entry, name);
  if (text === null) throw new ImportRefused(`it lacks ${name}; give the whole response of its create`);
  return text;
}

function optionalTextAt(entry: ImportedEntry, name: string): string | null {
  const value = entry[name];
  return typeof value === "string" ? value : null;
}

/** The root of the entry's routes, for entries that show only it. */
export function rootOf({ row }: Pick<ImportedIntent, "row">): Hex {
  return row.routes_root as Hex;
}
