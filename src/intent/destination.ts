import type { Asset, Catalog } from "../catalog/catalog.ts";
import { caip2, normalizeEvmAddress, type Namespace } from "../kernel/caip.ts";
import { Fault } from "../kernel/faults.ts";
import type { AccountRow } from "../merchant/store.ts";
import { mayReceive } from "../merchant/evmWallet.ts";
import { solanaWalletFault } from "../merchant/solanaWallet.ts";

/** What a create may say about the payout; what it leaves out comes from the account. */
export type DestinationInput = {
  payoutWallet?: string | null;
  payoutNamespace?: string | null;
  payoutChainReference?: string | null;
  payoutTokenAddress?: string | null;
};

export type Destination = { namespace: Namespace; chainReference: string; wallet: string; rail: Asset };

/** Whether a create names a destination, so that the dedupe rule applies to it. */
export function namesDestination(input: DestinationInput): boolean {
  const fields = [input.payoutWallet, input.payoutNamespace, input.payoutChainReference, input.payoutTokenAddress];
  return fields.some((field) => (field ?? null) !== null);
}

/** The destination of a create, each part from the call, else from the account. Throws the fault that names the part at fault. */
export function resolveDestination(catalog: Catalog, account: AccountRow, input: DestinationInput): Destination {
  const namespace = namespaceFor(account, input);
  const wallet = walletFor(catalog, account, { input, namespace });
  const chainReference = chainReferenceFor(account, input, namespace);
  const rail = railFor(catalog, account, { namespace, chainReference, token: input.payoutTokenAddress ?? undefined });
  refuseContracts(catalog, wallet, namespace);
  return { namespace, chainReference, wallet, rail };
}

function namespaceFor(account: AccountRow, input: DestinationInput): Namespace {
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

function chainReferenceFor(account: AccountRow, input: DestinationInput, namespace: Namespace): string {
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

function walletFor(
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
  if (namespace === "solana") return checkedSolanaWallet(catalog, text);
  const address = normalizeEvmAddress(text);
  if (address !== undefined) return address;
  const message = "payoutWallet must be 0x and 40 hex digits; in mixed case its EIP-55 checksum must be right.";
  throw new Fault("invalid_request", { param: "payoutWallet", message });
}

function checkedSolanaWallet(catalog: Catalog, text: string): string {
  const mints = catalog.assets.filter((asset) => asset.namespace === "solana").map((asset) => asset.token);
  const fault = solanaWalletFault(text, new Set(mints));
  if (fault === undefined) return text;
  if (fault === "malformed") {
    const message = "payoutWallet must be the base58 of 32 bytes on Solana.";
    throw new Fault("invalid_request", { param: "payoutWallet", message });
  }
  throw unsupported(
    "payoutWallet",
    "This address is no wallet: it is a program's, a mint, or a token account or other derived address, which no key signs for.",
  );
}

function railFor(
  catalog: Catalog,
  account: AccountRow,
  of: { namespace: Namespace; chainReference: string; token: string | undefined },
): Asset {
  const rails = catalog.assets.filter(
    (asset) => asset.isRail && asset.chain === caip2(of.namespace, of.chainReference),
  );
  if (rails.length === 0) {
    throw unsupported(
      "payoutChainReference",
      `${of.namespace}:${of.chainReference} is no chain that this service settles to.`,
    );
  }
  if (of.token !== undefined) return namedRail(rails, of.namespace, of.token);
  const defaultSymbol = catalog.knownChains.find((chain) => chain.caip2 === rails[0]?.chain)?.defaultToken;
  const inherited =
    rails.find((rail) => rail.symbol === account.currency) ?? rails.find((rail) => rail.symbol === defaultSymbol);
  if (inherited === undefined) throw new Fault("token_required", { param: "payoutTokenAddress" });
  return inherited;
}

function namedRail(rails: readonly Asset[], namespace: Namespace, text: string): Asset {
  const token = namespace === "eip155" ? normalizeEvmAddress(text) : text;
  if (token === undefined) {
    const message = "payoutTokenAddress must be 0x and 40 hex digits; in mixed case its EIP-55 checksum must be right.";
    throw new Fault("invalid_request", { param: "payoutTokenAddress", message });
  }
  const rail = rails.find((candidate) => candidate.token === token);
  if (rail !== undefined) return rail;
  throw unsupported("payoutTokenAddress", "This token is no live settle rail of the chain.");
}

function refuseContracts(catalog: Catalog, wallet: string, namespace: Namespace): void {
  if (namespace !== "eip155" || mayReceive(catalog, wallet)) return;
  throw unsupported(
    "payoutWallet",
    "This address cannot receive a payout: it is a contract of the chain, of a token or of this service.",
  );
}

export function unsupported(param: string, message: string): Fault {
  return new Fault("unsupported_destination", { param, message });
}
