import type { Hex } from "@tributary/inbox/terms";
import type { Call } from "../src/calls.ts";
import type { Ask } from "../src/look.ts";

const POLL_MS = 1_000;
/** Ten minutes; what was sent goes on without the page. */
const POLLS_MAX = 600;
/** A stranger may empty the inbox first: then the call takes another way than the one that was estimated. */
const GAS_MARGIN_PERCENT = 140n;

/** Has the wallet sign and send, and waits until it is in a block. Throws an Error that says what became of it. */
export async function send(
  ask: Ask,
  from: Hex,
  { call, onSent }: { call: Call; onSent: (hash: string) => void },
): Promise<void> {
  const estimated = BigInt((await ask("eth_estimateGas", [{ from, ...call }])) as string);
  const gas = `0x${((estimated * GAS_MARGIN_PERCENT) / 100n).toString(16)}`;
  const hash = (await ask("eth_sendTransaction", [{ from, ...call, gas }])) as string;
  onSent(hash);
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const receipt = (await ask("eth_getTransactionReceipt", [hash])) as { status?: string } | null;
    if (receipt?.status === "0x1") return;
    if (receipt?.status === "0x0") throw new Error(`${hash} reverted: nothing has moved.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`${hash} was sent and is not in a block yet. To look again later, or to send it again, is safe.`);
}
