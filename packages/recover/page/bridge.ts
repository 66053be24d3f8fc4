import { cctpV2AdapterAddress } from "@tributary/inbox/cctpV2Adapter";
import { buildBridgeCall, buildDeployAdapterCall } from "../src/bridge/bridgeCalls.ts";
import type { ProvenRoute } from "../src/bridge/planBridge.ts";
import { findRevertReason } from "../src/bridge/revertReason.ts";
import type { Holding } from "../src/inspectChain.ts";
import { byId, setMessage } from "./dom.ts";
import { sendTransaction, type PageSender } from "./sendTransaction.ts";

const PPM_PER_PERCENT = 10_000;

export function describeRoute({ speed, feePpmMax }: ProvenRoute, { inbox }: Holding): string {
  const way = speed === "fast" ? "Bridge fast" : "Bridge";
  return `${way} to ${nameSettleChain(inbox)}, for at most ${feePpmMax / PPM_PER_PERCENT} %`;
}

function nameSettleChain({ terms }: Holding["inbox"]): string {
  return terms.settleChainId === 0n ? "Solana" : `chain ${terms.settleChainId}`;
}

/** Burns a holding over a verified route, and returns what to do next. */
export async function sendBridge({ inbox }: Holding, route: ProvenRoute, sender: PageSender): Promise<string> {
  const { request } = sender;
  if ((await request("eth_getCode", [cctpV2AdapterAddress, "latest"])) === "0x")
    await sendTransaction(sender, buildDeployAdapterCall(), (hash) =>
      setMessage("act-status", `Putting the adapter there: ${hash}`),
    );
  let burnTx: string;
  try {
    burnTx = await sendTransaction(sender, buildBridgeCall(inbox, route), (hash) =>
      setMessage("act-status", `Bridging: ${hash}`),
    );
  } catch (error) {
    if (!/max fee/i.test(findRevertReason(error) ?? "")) throw error;
    throw new Error(
      "Circle's fee is now above what this route allows. Nothing was sent. Take the other route, or wait.",
    );
  }
  byId<HTMLInputElement>("burn-tx").value = burnTx;
  if (inbox.terms.settleChainId === 0n)
    return `Bridged by ${burnTx}. Keep this hash. When Circle has signed it, show the balances on Solana, connect a wallet there, and receive it below.`;
  const wait = route.speed === "fast" ? "In a minute" : "When this chain is final, often after 20 minutes,";
  return `Bridged by ${burnTx}. Keep this hash. ${wait} switch your wallet to chain ${inbox.terms.settleChainId}, and receive it below.`;
}
