// Addresses above a chain kind are texts in stored form. Their syntax, the payable ones and the search in an answer
// belong to the kind.

/** `malformed`: no address. `unpayable`: its money could never be moved; `reason` explains that in a sentence. */
export type ParsedWallet = { address: string } | { problem: "malformed" } | { problem: "unpayable"; reason: string };

export interface AddressFormat {
  /** The expected address format, after "must be". */
  readonly expected: string;
  /** The expected wallet format, after "must be". */
  readonly expectedWallet: string;
  /** The stored form of a user's input; undefined when it is no address. */
  parse(text: string): string | undefined;
  /** Same for a wallet, as far as the address alone shows; `tokens` are the service's token addresses. */
  parseWallet(text: string, tokens: ReadonlySet<string>): ParsedWallet;
  /** Whether an address in stored form is a contract that would trap a payout. */
  isContract(address: string, tokens: ReadonlySet<string>): boolean;
  createMatcher(): AddressMatcher;
  /** What may be addresses in a text of any form, in stored form; some may be none. */
  findIn(text: string): Iterable<string>;
}

/** Texts that wallets sign. */
export interface WalletSignatures {
  /**
   * Whether this wallet signed the text. `wallet` is in stored form, `signature` in hexadecimal digits without a
   * prefix. False for a malformed one.
   */
  isSigned(signed: { wallet: string; text: string; signature: string }): Promise<boolean>;
}

/** A grow-only set of watched addresses, in the form that is fastest to search. */
export interface AddressMatcher {
  readonly size: number;
  /** Adds comma-separated addresses in stored form (ASCII); empty ones are skipped. */
  addAll(joined: Uint8Array): void;
  has(address: string): boolean;
  /** Whether a watched address stands at `offset` of an answer, as the kind's providers write it. */
  hasAt(bytes: Uint8Array, offset: number): boolean;
}
