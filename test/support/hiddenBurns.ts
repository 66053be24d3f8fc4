import assert from "node:assert/strict";
import type { Hex } from "viem";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { bridgeCall } from "./bridgeCall.ts";
import type { BridgedRoad } from "./bridgedRoad.ts";
import type { TestChain } from "./chain.ts";
import type { AlterReply } from "./faultyRpcProxy.ts";

/** Leaves out every log that names the inbox, in every answer. */
export function hide({ inbox_address: inbox }: IntentRow): AlterReply {
  const word = inbox.slice(2).toLowerCase();
  const isShown = (log: unknown) => !JSON.stringify(log).toLowerCase().includes(word);
  const withoutLogs = (receipt: { logs: unknown[] }) => ({ ...receipt, logs: receipt.logs.filter(isShown) });
  return ({ method }, answer) => {
    if (method === "eth_getLogs" && Array.isArray(answer)) return answer.filter(isShown);
    if (method === "eth_getTransactionReceipt" && answer !== null) return withoutLogs(answer as { logs: unknown[] });
    if (method === "eth_getBlockReceipts" && Array.isArray(answer)) return answer.map(withoutLogs);
    return answer;
  };
}

/**
 * A stranger gives the inbox's balance on `away`, the chain of domain 1, to the bridge. Returns what the service signs.
 */
export async function burnAsStranger(
  road: BridgedRoad,
  { away }: { home: TestChain; away: TestChain },
  intent: IntentRow,
): Promise<{ message: Hex; attestation: Hex }> {
  const [receipt] = await away.send(DEV_ACCOUNTS.stranger, [await bridgeCall(road, away, { intent })]);
  assert.equal(receipt?.status, "success");
  await away.finalize();
  const path = `/v2/messages/1?transactionHash=${receipt.transactionHash}`;
  const { messages } = (await (await fetch(`${road.attestation.url}${path}`)).json()) as {
    messages: { message: Hex; attestation: Hex }[];
  };
  assert.ok(messages[0]);
  return messages[0];
}
