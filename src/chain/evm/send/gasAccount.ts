import { keccak256, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { assert } from "../../../kernel/assert.ts";
import type { SignedBytes } from "../../outgoing/outgoingStore.ts";

/** Signs given transactions. It pays gas and can move no deposit. */
export interface GasAccount {
  readonly address: string;
  sign(transaction: UnsignedTransaction): Promise<SignedBytes>;
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

/** The account in a process that reads no key. It has an address and signs nothing. */
export function openForeignAccount(address: string): GasAccount {
  return { address, sign: () => Promise.reject(new Error("a process without the role settle signs nothing")) };
}

/**
 * Opens the account of a private key (0x and 64 hex digits). The key stays in this closure, out of any field that could
 * be logged.
 */
export function openGasAccount(privateKey: string): GasAccount {
  assert(/^0x[0-9a-fA-F]{64}$/.test(privateKey), "a gas key is 0x and 64 hex digits");
  const account = privateKeyToAccount(privateKey as Hex);
  return { address: account.address.toLowerCase(), sign };

  async function sign(transaction: UnsignedTransaction): Promise<SignedBytes> {
    const raw = await account.signTransaction({
      type: "eip1559",
      chainId: transaction.chainId,
      nonce: Number(transaction.nonce),
      to: transaction.to as Hex,
      data: transaction.data as Hex,
      gas: transaction.gasLimit,
      maxFeePerGas: transaction.maxFeePerGas,
      maxPriorityFeePerGas: transaction.maxPriorityFeePerGas,
    });
    return { raw, chainTx: keccak256(raw) };
  }
}
