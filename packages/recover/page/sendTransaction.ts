import type { Hex } from "@tributary/inbox/terms";
import type { ContractCall } from "../src/contractCalls.ts";
import { findGasLimit } from "../src/findGasLimit.ts";
import type { RpcRequester } from "../src/inspectChain.ts";

const POLL_MS = 1_000;
/** Ten minutes of polling. The transaction does not depend on the page. */
const RECEIPT_POLLS_MAX = 600;

/** Has the wallet sign and send the call, and waits until a block contains it. Throws an Error that describes the outcome. */
export async function sendTransaction(
  request: RpcRequester,
  from: Hex,
  { call, onSent }: { call: ContractCall; onSent: (hash: string) => void },
): Promise<void> {
  const gas = `0x${(await findGasLimit(request, from, call)).toString(16)}`;
  const hash = (await request("eth_sendTransaction", [{ from, ...call, gas }])) as string;
  onSent(hash);
  for (let poll = 0; poll < RECEIPT_POLLS_MAX; poll += 1) {
    const receipt = (await request("eth_getTransactionReceipt", [hash])) as { status?: string } | null;
    if (receipt?.status === "0x1") return;
    if (receipt?.status === "0x0") throw new Error(`${hash} reverted. Nothing was moved.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${hash} was sent and is not in a block yet. To look again later, or to send it again, is safe.`);
}
