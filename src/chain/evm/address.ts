import { parseAddress } from "@tributary/inbox/checksum";
import { publishedContracts } from "@tributary/inbox/publishedContracts";
import type { AddressFormat } from "../addressFormat.ts";
import { AddressSet } from "./filter/addressSet.ts";

/** Precompiled contracts, which trap money. */
const PRECOMPILES: ReadonlySet<string> = new Set(
  [...Array.from({ length: 0x12 }, (_, index) => index), 0x100].map(addressOf),
);
const OUR_CONTRACTS: ReadonlySet<string> = new Set(publishedContracts);
/** Also as a topic of a log: 32 bytes with the address at their end. */
const IN_TEXT = /0x(?:0{24})?([0-9a-fA-F]{40})(?![0-9a-fA-F])/g;
const EXPECTED = "0x and 40 hex digits; in mixed case its EIP-55 checksum must be right";

/** Addresses of EVM chains, in lower case in stored form. */
export const evmAddresses: AddressFormat = {
  expected: EXPECTED,
  expectedWallet: EXPECTED,
  parse: parseAddress,
  parseWallet(text) {
    const address = parseAddress(text);
    return address === undefined ? { problem: "malformed" } : { address };
  },
  isContract: (address, tokens) => PRECOMPILES.has(address) || OUR_CONTRACTS.has(address) || tokens.has(address),
  createMatcher: () => new AddressSet(),
  *findIn(text) {
    for (const [, digits = ""] of text.matchAll(IN_TEXT)) yield `0x${digits.toLowerCase()}`;
  },
};

function addressOf(value: number): string {
  return `0x${value.toString(16).padStart(40, "0")}`;
}
