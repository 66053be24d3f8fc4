import type { Asset, Catalog } from "../catalog/catalog.ts";
import { caip2, normalizeEvmAddress, type Namespace } from "../kernel/caip.ts";
import { Fault } from "../kernel/faults.ts";
import type { AccountRow } from "../merchant/store.ts";
import { canReceivePayout } from "../merchant/evmWallet.ts";
import { findSolanaWalletProblem } from "../merchant/solanaWallet.ts";

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

/** The destination of a create, each part from the call, else from the account. Throws the fault that names the part at fault. */
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
  if (namespace === "solana") return requireSolanaWallet(catalog, text);
  const address = normalizeEvmAddress(text);
  if (address !== undefined) return address;
  const message = "payoutWallet must be 0x and 40 hex digits; in mixed case its EIP-55 checksum must be right.";
  throw new Fault("invalid_request", { param: "payoutWallet", message });
}

function requireSolanaWallet(catalog: Catalog, text: string): string {
  const mints = catalog.assets.filter((asset) => asset.namespace === "solana").map((asset) => asset.token);
  const fault = findSolanaWalletProblem(text, new Set(mints));
  if (fault === undefined) return text;
  if (fault === "malformed") {
    const message = "payoutWallet must be the base58 of 32 bytes on Solana.";
    throw new Fault("invalid_request", { param: "payoutWallet", message });
  }
  throw unsupportedDestination(
    "payoutWallet",
    "This address is no wallet: it is a program's, a mint, or a token account or other derived address, which no key signs for.",
  );
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
  const token = namespace === "eip155" ? normalizeEvmAddress(text) : text;
  if (token === undefined) {
    const message = "payoutTokenAddress must be 0x and 40 hex digits; in mixed case its EIP-55 checksum must be right.";
    throw new Fault("invalid_request", { param: "payoutTokenAddress", message });
  }
  const rail = rails.find((candidate) => candidate.token === token);
  if (rail !== undefined) return rail;
  throw unsupportedDestination("payoutTokenAddress", "This token is no live settle rail of the chain.");
}

function rejectContractAddress(catalog: Catalog, wallet: string, namespace: Namespace): void {
  if (namespace !== "eip155" || canReceivePayout(catalog, wallet)) return;
  throw unsupportedDestination(
    "payoutWallet",
    "This address cannot receive a payout: it is a contract of the chain, of a token or of this service.",
  );
}

export function unsupportedDestination(param: string, message: string): Fault {
  return new Fault("unsupported_destination", { param, message });
}
