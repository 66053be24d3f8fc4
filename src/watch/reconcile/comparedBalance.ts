/** An inbox and a token with both balances at one block, in the token's smallest units. */
export type ComparedBalance = {
  intentId: string;
  inbox: string;
  token: string;
  blockNumber: bigint;
  ledgerUnits: bigint;
  chainUnits: bigint;
  /** The provider that reported a present balance. */
  provider?: string;
};
