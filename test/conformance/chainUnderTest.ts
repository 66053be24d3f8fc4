import type { Terms } from "@tributary/inbox/terms";
import type { GasAccount, UnsignedTransaction } from "../../src/chain/evm/send/gasAccount.ts";
import type { Chain } from "../../src/chain/chain.ts";
import type { ChainReader } from "../../src/chain/reader.ts";
import type { EvmNode } from "../../src/chain/evm/node.ts";

// A chain, as the suite handles it: what stands behind it may be a real node or a model of one.

export type Transfer = { token: string; to: string; units: bigint };

export type TestTokens = {
  /** Reverts what it refuses and answers true. */
  plain: string;
  /** Answers nothing. */
  silent: string;
  /** Keeps a hundredth of each transfer for its owner. */
  taxed: string;
};

export interface ChainUnderTest {
  reader: ChainReader;
  /** Its sender has plenty to pay fees with. */
  chain: Chain;
  chainId: number;
  /** Every one of them has 6 decimals. */
  tokens: TestTokens;
  /** Hold plenty of each token. */
  payers: readonly [string, string];
  /** A transfer in a transaction of its own, which waits for a block. */
  pay(from: string, transfer: Transfer): Promise<string>;
  /** Several transfers in one transaction that goes on after one that fails; `reverts` undoes all of them at its end. */
  payInOneTransaction(
    transfers: readonly Transfer[],
    ending?: "keeps" | "reverts",
  ): Promise<{ chainTx: string; from: string }>;
  /** Makes a block of what waits. */
  mine(blocks?: number): Promise<void>;
  /** Leaves the last blocks for as many others. The named transactions stand in the first of these, in this order; the rest is lost. */
  reorg(depth: number, kept?: readonly string[]): Promise<void>;
  /** The issuer of the plain token bars an account, or lets it go, at once. */
  blocklist(account: string): Promise<void>;
  unblocklist(account: string): Promise<void>;
  /** An inbox on this chain that pays out `token`. */
  termsOf(of: { salt: number; token: string; payout: string }): Terms;
  close(): Promise<void>;
}

/** One of the EVM kind, which has more to it than the ports. */
export interface EvmChainUnderTest extends ChainUnderTest {
  node: EvmNode;
  /** Pays gas and has plenty of it. */
  gasAccount: GasAccount;
}

let addresses = 0;

/** An address that nothing has happened to. */
export function newAddress(): string {
  addresses += 1;
  return `0x${(0xc0f0_0000 + addresses).toString(16).padStart(40, "7")}`;
}

/** A call as the next transaction of the account that pays gas, with more gas than it needs. */
export async function buildTransaction(
  chain: EvmChainUnderTest,
  call: { to: string; data: string },
): Promise<UnsignedTransaction> {
  const { node, gasAccount, chainId } = chain;
  const [nonce, fees] = [await node.nonce(gasAccount.address), await node.fees()];
  return { chainId, nonce, ...call, gasLimit: 900_000n, ...fees };
}
