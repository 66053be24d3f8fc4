import type { Hex } from "@tributary/inbox/terms";
import type { ContractCall } from "../src/contractCalls.ts";
import { findGasLimit } from "../src/findGasLimit.ts";
import { quoteFees } from "../src/gasPrice.ts";
import type { RpcRequester } from "../src/inspectChain.ts";

const POLL_MS = 1_000;
/** Ten minutes of polling. The transaction does not depend on the page. */
const RECEIPT_POLLS_MAX = 600;

export type PageSender = {
  readonly request: RpcRequester;
  readonly account: Hex;
  /** The highest price of gas in wei. Above it the wallet is not asked. */
  readonly feeCeiling: bigint;
};

/**
 * Has the wallet sign and send the call, and waits until a block contains it. Returns its hash. Throws an Error that describes the outcome.
 */
export async function sendTransaction(
  { request, account: from, feeCeiling }: PageSender,
  call: ContractCall,
  onSent: (hash: string) => void,
): Promise<string> {
  const { maxFeePerGas, maxPriorityFeePerGas } = await quoteFees(request, feeCeiling);
  const amounts = { gas: await findGasLimit(request, from, call), maxFeePerGas, maxPriorityFeePerGas };
  const limits = Object.fromEntries(Object.entries(amounts).map(([name, value]) => [name, `0x${value.toString(16)}`]));
  const hash = (await request("eth_sendTransaction", [{ from, ...call, ...limits }])) as string;
  onSent(hash);
  for (let poll = 0; poll < RECEIPT_POLLS_MAX; poll += 1) {
    const receipt = (await request("eth_getTransactionReceipt", [hash])) as { status?: string } | null;
    if (receipt?.status === "0x1") return hash;
    if (receipt?.status === "0x0") throw new Error(`${hash} reverted. Nothing was moved.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${hash} was sent and is not in a block yet. To look again later, or to send it again, is safe.`);
}
