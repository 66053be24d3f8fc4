// Addresses are texts in stored form everywhere above a chain's kind. What they look like, which of them can be paid and how many of them
// are found in an answer is the kind's own.

/** `malformed`: it is no address. `unpayable`: one that nobody could take money from; `reason` says so in a sentence. */
export type ParsedWallet = { address: string } | { problem: "malformed" } | { problem: "unpayable"; reason: string };

export interface AddressFormat {
  /** What an address is, after "must be". */
  readonly expected: string;
  /** What a merchant's wallet is, after "must be". */
  readonly expectedWallet: string;
  /** The stored form of an address that a person wrote; undefined when it is none. */
  parse(text: string): string | undefined;
  /** The same for a wallet, as far as the address alone tells; `tokens` are the addresses of the service's tokens. */
  parseWallet(text: string, tokens: ReadonlySet<string>): ParsedWallet;
  /** Whether an address in stored form is a contract that would swallow a payout. */
  isContract(address: string, tokens: ReadonlySet<string>): boolean;
  createMatcher(): AddressMatcher;
}

/** A set of watched addresses that only grows, in the form in which it finds them fastest. */
export interface AddressMatcher {
  readonly size: number;
  /** Adds addresses in stored form (ASCII), with commas between them; an empty one is skipped. */
  addAll(joined: Uint8Array): void;
  has(address: string): boolean;
  /** Whether one of them stands at `offset` of an answer, as the kind's providers write it. */
  hasAt(bytes: Uint8Array, offset: number): boolean;
}
