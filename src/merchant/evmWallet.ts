import { deterministicDeployer, hubAddress, implementationAddress } from "@tributary/inbox/hub";
import type { Catalog } from "../catalog/catalog.ts";

/** Precompiled contracts: money sent there is gone. */
const PRECOMPILES: ReadonlySet<string> = new Set(
  [...Array.from({ length: 0x12 }, (_, index) => index), 0x100].map(addressOf),
);
const OUR_CONTRACTS: ReadonlySet<string> = new Set([hubAddress, implementationAddress, deterministicDeployer]);

/** Whether somebody could own what is sent to an address in stored form: it is no contract of the chains, of this service or of a token. */
export function canReceivePayout(catalog: Catalog, address: string): boolean {
  const isToken = catalog.assets.some((asset) => asset.token === address);
  return !PRECOMPILES.has(address) && !OUR_CONTRACTS.has(address) && !isToken;
}

function addressOf(value: number): string {
  return `0x${value.toString(16).padStart(40, "0")}`;
}
