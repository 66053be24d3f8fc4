import type { Hex } from "@tributary/inbox/terms";
import { parseQuantity } from "../src/abi.ts";
import type { ContractCall } from "../src/contractCalls.ts";
import { findGasLimit } from "../src/findGasLimit.ts";
import { quoteFees } from "../src/gasPrice.ts";
import type { RpcRequester } from "../src/rpc/rpcRequester.ts";

const POLL_MS = 1_000;
/** Ten minutes of polling. The transaction does not depend on the page. */
const RECEIPT_POLLS_MAX = 600;

export type PageSender = {
  readonly request: RpcRequester;
  readonly account: Hex;
  /** The chain that the call is for. */
  readonly chainId: bigint;
  /** The highest price of gas in wei. Above it the wallet is not asked. */
  readonly feeCeiling: bigint;
};

/**
 * Has the wallet sign and send the call, and waits until a block contains it. Returns its hash. Throws an Error that
 * describes the outcome.
 */
export async function sendTransaction(
  { request, account: from, chainId, feeCeiling }: PageSender,
  call: ContractCall,
  onSent: (hash: string) => void,
): Promise<string> {
  await requireChain(request, chainId);
  const fees = await quoteFees(request, feeCeiling);
  const amounts = { gas: await findGasLimit(request, from, call), ...fees, chainId };
  const limits = Object.fromEntries(Object.entries(amounts).map(([name, value]) => [name, `0x${value.toString(16)}`]));
  // Wallets change their network without telling pages, also meanwhile. An address that is yours here may be nobody's
  // there.
  await requireChain(request, chainId);
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

async function requireChain(request: RpcRequester, chainId: bigint): Promise<void> {
  const current = parseQuantity(await request("eth_chainId", []), "its id");
  if (current !== chainId)
    throw new Error(`Your wallet is on chain ${current} now, and this is for chain ${chainId}. Nothing was sent.`);
}
