import type { Caip2 } from "../kernel/caip.ts";
import type { ChainDriver } from "./driver.ts";

/** One chain as the service uses it: its providers, in order of preference, and the account that pays gas on it. */
export type Chain = {
  readonly caip2: Caip2;
  readonly drivers: readonly ChainDriver[];
  readonly gasAccount: GasAccount;
};

/** Signs what was decided elsewhere. It pays gas and can move nobody's deposit. */
export interface GasAccount {
  readonly address: string;
  sign(transaction: UnsignedTransaction): Promise<SignedTransaction>;
}

export type UnsignedTransaction = {
  chainId: number;
  nonce: bigint;
  to: string;
  data: string;
  gasLimit: bigint;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
};

/** The bytes to broadcast and the hash they will have on chain. */
export type SignedTransaction = { raw: string; chainTx: string };
