/** The pages of one chain. Undefined for what the chain does not have. */
export type ChainExplorer = {
  chainPage(): Promise<string>;
  transactionPage(hash: string): Promise<string | undefined>;
  addressPage(address: string): Promise<string | undefined>;
  close(): Promise<void>;
};
