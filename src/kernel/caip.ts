import { checksumAddress } from "@tributary/inbox/checksum";
import type { Hex } from "@tributary/inbox/terms";

// CAIP-2 identifies a chain, CAIP-10 an account on it, CAIP-19 an asset. Code and database hold EVM addresses in lower
// case; people see EIP-55.

export type Namespace = "eip155" | "solana";
/** `<namespace>:<reference>`, such as `eip155:8453`. */
export type Caip2 = `${Namespace}:${string}`;

export function caip2(namespace: Namespace, reference: string): Caip2 {
  return `${namespace}:${reference}`;
}

/** Returns the namespace of a chain id that this service built. It does not validate. */
export function namespaceOf(chain: Caip2): Namespace {
  return chain.startsWith("eip155:") ? "eip155" : "solana";
}

/** Returns the part after the colon: the EVM chain id, or the first 32 characters of Solana's genesis hash. */
export function referenceOf(chain: Caip2): string {
  return chain.slice(chain.indexOf(":") + 1);
}

export function caip10(chain: Caip2, address: string): string {
  return `${chain}:${displayAddress(chain, address)}`;
}

export function caip19(chain: Caip2, token: string): string {
  const assetType = namespaceOf(chain) === "eip155" ? "erc20" : "token";
  return `${chain}/${assetType}:${displayAddress(chain, token)}`;
}

/** Formats an address for people: EIP-55 on EVM chains, unchanged on Solana. */
export function displayAddress(chain: Caip2, address: string): string {
  return namespaceOf(chain) === "eip155" ? checksumAddress(address as Hex) : address;
}
