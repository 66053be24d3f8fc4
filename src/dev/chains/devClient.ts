import {
  createTestClient,
  http,
  publicActions,
  type Hex,
  type TransactionReceipt,
  TimeoutError,
  TransactionReceiptNotFoundError,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { systemTimer } from "../../kernel/clock.ts";
import type { DevAccount } from "../devAccounts.ts";

/** Client of a dev chain: reads, and anvil's test methods. */
export type DevClient = ReturnType<typeof createDevClient>;

export interface ContractCall {
  /** Absent for a plain contract creation. */
  to?: Hex;
  data?: Hex;
  /** In wei. */
  value?: bigint;
  /** Default GAS_LIMIT_DEFAULT. Calls are not estimated. */
  gasLimit?: bigint;
}

/** viem's default of four seconds is too slow for local chains. */
const POLL_MS = 50;
/** A busy machine may take longer than viem's ten seconds to answer. */
export const REQUEST_MS_MAX = 30_000;
const GAS_LIMIT_DEFAULT = 400_000n;
/** Far above any base fee that a local chain reaches in one run. */
const MAX_FEE_PER_GAS = 100_000_000_000n;
const PRIORITY_FEE_PER_GAS = 1_000_000_000n;

export function createDevClient(rpcUrl: string) {
  return createTestClient({
    mode: "anvil",
    transport: http(rpcUrl, { retryCount: 0, timeout: REQUEST_MS_MAX }),
    cacheTime: 0,
    pollingInterval: POLL_MS,
  }).extend(publicActions);
}

/** Signs the calls with consecutive nonces, without sending them. */
export async function signCalls(
  client: DevClient,
  account: DevAccount,
  calls: readonly ContractCall[],
): Promise<Hex[]> {
  const signer = privateKeyToAccount(account.privateKey);
  const [chainId, nonce] = await Promise.all([
    client.getChainId(),
    client.getTransactionCount({ address: account.address, blockTag: "pending" }),
  ]);
  return Promise.all(
    calls.map((call, index) =>
      signer.signTransaction({
        type: "eip1559",
        chainId,
        nonce: nonce + index,
        gas: call.gasLimit ?? GAS_LIMIT_DEFAULT,
        maxFeePerGas: MAX_FEE_PER_GAS,
        maxPriorityFeePerGas: PRIORITY_FEE_PER_GAS,
        value: call.value ?? 0n,
        ...(call.to === undefined ? {} : { to: call.to }),
        ...(call.data === undefined ? {} : { data: call.data }),
      }),
    ),
  );
}

/**
 * Sends the calls in order and returns their receipts, reverted ones included. Each call waits until the previous one
 * is mined, because anvil sometimes never mines a transaction that arrives before its predecessor. Two runs for one
 * account must not overlap, because they use the same nonces. The chain must mine at once.
 */
export async function sendCalls(
  client: DevClient,
  account: DevAccount,
  calls: readonly ContractCall[],
): Promise<TransactionReceipt[]> {
  const receipts: TransactionReceipt[] = [];
  for (const serializedTransaction of await signCalls(client, account, calls)) {
    receipts.push(await sendSigned(client, serializedTransaction));
  }
  return receipts;
}

const RECEIPT_POLL_MS = 10;
const RECEIPT_POLLS_MAX = 2_000;
/** After this many polls an empty block makes anvil mine the waiting transaction. */
const MINE_EVERY_POLLS = 100;

/**
 * Sends a signed transaction, and polls for its receipt. eth_sendRawTransactionSync may never return on a busy machine,
 * although the transaction is mined.
 */
export async function sendSigned(client: DevClient, serializedTransaction: Hex): Promise<TransactionReceipt> {
  return waitUntilMined(client, await client.sendRawTransaction({ serializedTransaction }));
}

/** Polls for the receipt of a sent transaction, since anvil answers before it mines. */
export async function waitUntilMined(client: DevClient, hash: Hex): Promise<TransactionReceipt> {
  for (let poll = 1; poll <= RECEIPT_POLLS_MAX; poll += 1) {
    const receipt = await client.getTransactionReceipt({ hash }).catch((error: unknown) => {
      // A busy machine may not answer in time; asking again is harmless.
      if (error instanceof TransactionReceiptNotFoundError || error instanceof TimeoutError) return undefined;
      throw error;
    });
    if (receipt !== undefined) return receipt;
    if (poll % MINE_EVERY_POLLS === 0) await client.mine({ blocks: 1 });
    await systemTimer.sleep(RECEIPT_POLL_MS);
  }
  throw new Error(`the transaction ${hash} was not mined`);
}

/** Like `sendCalls`, but throws Error when a call reverts. */
export async function sendCallsOrThrow(
  client: DevClient,
  account: DevAccount,
  calls: readonly ContractCall[],
): Promise<TransactionReceipt[]> {
  const receipts = await sendCalls(client, account, calls);
  const reverted = receipts.find((receipt) => receipt.status === "reverted");
  if (reverted) throw new Error(`the call ${receipts.indexOf(reverted)} to ${reverted.to} reverted`);
  return receipts;
}
