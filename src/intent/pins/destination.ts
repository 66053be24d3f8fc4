import type { Asset, Catalog } from "../../catalog/catalog.ts";
import type { AddressFormat } from "../../chain/addressFormat.ts";
import { addressFormatOf } from "../../chain/namespaces.ts";
import { caip2, type Namespace } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import type { AccountRow } from "../../merchant/store.ts";

/** What a create may say about the payout; what it leaves out comes from the account. */
export type DestinationInput = {
  payoutWallet?: string | null;
  payoutNamespace?: string | null;
  payoutChainReference?: string | null;
  payoutTokenAddress?: string | null;
};

export type Destination = { namespace: Namespace; chainReference: string; wallet: string; rail: Asset };

/** Whether a create names a destination, so that the dedupe rule applies to it. */
export function hasExplicitDestination(input: DestinationInput): boolean {
  const fields = [input.payoutWallet, input.payoutNamespace, input.payoutChainReference, input.payoutTokenAddress];
  return fields.some((field) => (field ?? null) !== null);
}

/**
 * The destination of a create, each part from the call, else from the account. Throws the fault that names the part at
 * fault.
 */
export function resolveDestination(catalog: Catalog, account: AccountRow, input: DestinationInput): Destination {
  const namespace = resolveNamespace(account, input);
  const wallet = resolveWallet(catalog, account, { input, namespace });
  const chainReference = resolveChainReference(account, input, namespace);
  const rail = resolveRail(catalog, account, {
    namespace,
    chainReference,
    token: input.payoutTokenAddress ?? undefined,
  });
  rejectContractAddress(catalog, wallet, namespace);
  return { namespace, chainReference, wallet, rail };
}

function resolveNamespace(account: AccountRow, input: DestinationInput): Namespace {
  const namespace = input.payoutNamespace ?? account.payout_namespace;
  if (namespace === null) throw new Fault("destination_required", { param: "payoutNamespace" });
  if (namespace !== "eip155" && namespace !== "solana") {
    throw new Fault("invalid_request", {
      param: "payoutNamespace",
      message: "payoutNamespace must be eip155 or solana.",
    });
  }
  return namespace;
}

function resolveChainReference(account: AccountRow, input: DestinationInput, namespace: Namespace): string {
  const named = input.payoutChainReference ?? null;
  if (named !== null) return named;
  if (account.payout_chain_reference === null)
    throw new Fault("destination_required", { param: "payoutChainReference" });
  if (namespace === account.payout_namespace) return account.payout_chain_reference;
  throw new Fault("destination_required", {
    param: "payoutChainReference",
    message: `payoutChainReference is required: the account's default chain is not of the namespace ${namespace}.`,
  });
}

function resolveWallet(
  catalog: Catalog,
  account: AccountRow,
  { input, namespace }: { input: DestinationInput; namespace: Namespace },
): string {
  const named = input.payoutWallet ?? null;
  if (named !== null) return normalizeWallet(catalog, named, namespace);
  if (account.payout_wallet === null) throw new Fault("destination_required", { param: "payoutWallet" });
  if (namespace !== account.payout_namespace) throw new Fault("wallet_required", { param: "payoutWallet" });
  return account.payout_wallet;
}

function normalizeWallet(catalog: Catalog, text: string, namespace: Namespace): string {
  const format = addressFormatOf(namespace);
  const parsed = format.parseWallet(text, catalog.contracts);
  if ("address" in parsed) return parsed.address;
  if (parsed.problem === "unpayable") throw unsupportedDestination("payoutWallet", parsed.reason);
  throw malformedAddress("payoutWallet", format);
}

function malformedAddress(param: string, { expected }: AddressFormat): Fault {
  return new Fault("invalid_request", { param, message: `${param} must be ${expected}.` });
}

function resolveRail(
  catalog: Catalog,
  account: AccountRow,
  target: { namespace: Namespace; chainReference: string; token: string | undefined },
): Asset {
  const rails = catalog.assets.filter(
    (asset) => asset.isRail && asset.chain === caip2(target.namespace, target.chainReference),
  );
  if (rails.length === 0) {
    throw unsupportedDestination(
      "payoutChainReference",
      `${target.namespace}:${target.chainReference} is no chain that this service settles to.`,
    );
  }
  if (target.token !== undefined) return findRailByToken(rails, target.namespace, target.token);
  const defaultSymbol = catalog.knownChains.find((chain) => chain.caip2 === rails[0]?.chain)?.defaultToken;
  const defaultRail =
    rails.find((rail) => rail.symbol === account.currency) ?? rails.find((rail) => rail.symbol === defaultSymbol);
  if (defaultRail === undefined) throw new Fault("token_required", { param: "payoutTokenAddress" });
  return defaultRail;
}

function findRailByToken(rails: readonly Asset[], namespace: Namespace, text: string): Asset {
  const format = addressFormatOf(namespace);
  const token = format.parse(text);
  if (token === undefined) throw malformedAddress("payoutTokenAddress", format);
  const rail = rails.find((candidate) => candidate.token === token);
  if (rail !== undefined) return rail;
  throw unsupportedDestination("payoutTokenAddress", "This token is no live settle rail of the chain.");
}

function rejectContractAddress(catalog: Catalog, wallet: string, namespace: Namespace): void {
  if (!addressFormatOf(namespace).isContract(wallet, catalog.contracts)) return;
  throw unsupportedDestination(
    "payoutWallet",
    "This address cannot receive a payout: it is a contract of the chain, of a token or of this service.",
  );
}

export function unsupportedDestination(param: string, message: string): Fault {
  return new Fault("unsupported_destination", { param, message });
}
