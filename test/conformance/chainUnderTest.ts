import type { Terms } from "@tributary/inbox/terms";
import type { GasAccount, UnsignedTransaction } from "../../src/chain/evm/send/gasAccount.ts";
import type { ChainConfig } from "../../src/config/config.ts";
import type { Chain } from "../../src/chain/chain.ts";
import type { ChainReader } from "../../src/chain/reader.ts";
import type { SettleItem } from "../../src/chain/sender.ts";
import { limitFees } from "../../src/chain/evm/send/fees.ts";
import { MAX_FEE_PER_GAS_DEFAULT } from "../../src/config/knownChains.ts";
import type { EvmNode } from "../../src/chain/evm/node.ts";

// A chain under test: a real node or a model of one.

export type Transfer = { token: string; to: string; units: bigint };

export type TestTokens = {
  /** Reverts on failure and returns true. */
  plain: string;
  /** Returns nothing. */
  silent: string;
  /** Keeps a hundredth of each transfer for its owner. */
  taxed: string;
};

/** What the tests of senders need. */
export interface SettlingChainUnderTest {
  reader: ChainReader;
  /** Its sender has enough funds for all fees. */
  chain: Chain;
  /** The settings that the sender compares with the chain. */
  config: ChainConfig;
  /** Each token has 6 decimals. */
  tokens: Pick<TestTokens, "plain">;
  /** Hold enough of each token for all tests. */
  payers: readonly [string, string];
  /** Receives the fees of all inboxes. */
  feeRecipient: string;
  /** An address without history, whose owner may be a merchant. */
  newAddress(): string;
  /** A new inbox in the plain token, with a fee of half a percent. */
  newItem(payout: string): SettleItem;
  /** How a settlement ends whose inbox another one emptied before. */
  emptySettlementStatus: "mined" | "reverted";
  /** Sends a transfer in its own transaction, which waits for a block. */
  pay(from: string, transfer: Transfer): Promise<string>;
  /** Sends several transfers in one transaction of the first payer. */
  payInOneTransaction(transfers: readonly Transfer[]): Promise<{ chainTx: string; from: string }>;
  /** Mines waiting transactions into a block. */
  mine(blocks?: number): Promise<void>;
  /**
   * Replaces the last blocks with the same number of new ones. The first new block holds the named transactions in this
   * order; the others are dropped.
   */
  reorg(depth: number, kept?: readonly string[]): Promise<void>;
  /** Blocklists an account of the plain token, or removes it from the list, at once. */
  blocklist(account: string): Promise<void>;
  unblocklist(account: string): Promise<void>;
  close(): Promise<void>;
}

export interface ChainUnderTest extends SettlingChainUnderTest {
  chainId: number;
  tokens: TestTokens;
  /**
   * Sends several transfers in one transaction that continues after a failed one. `reverts` reverts them at its end.
   */
  payInOneTransaction(
    transfers: readonly Transfer[],
    ending?: "keeps" | "reverts",
  ): Promise<{ chainTx: string; from: string }>;
}

/** A chain of the EVM kind, with its methods beyond the ports. */
export interface EvmChainUnderTest extends ChainUnderTest {
  node: EvmNode;
  /** Pays gas and has enough funds for it. */
  gasAccount: GasAccount;
  /** An inbox on this chain that pays out `token`. */
  termsOf(fields: { salt: number; token: string; payout: string }): Terms;
}

let addresses = 0;

/** An address without history. */
export function newAddress(): string {
  addresses += 1;
  return `0x${(0xc0f0_0000 + addresses).toString(16).padStart(40, "7")}`;
}

/** Signs a call as the gas account's next transaction, with more gas than it needs. */
export async function buildTransaction(
  chain: EvmChainUnderTest,
  call: { to: string; data: string },
): Promise<UnsignedTransaction> {
  const { node, gasAccount, chainId } = chain;
  const [nonce, fees] = [await node.nonce(gasAccount.address), limitFees(await node.fees(), MAX_FEE_PER_GAS_DEFAULT)];
  return { chainId, nonce, ...call, gasLimit: 900_000n, ...fees };
}
