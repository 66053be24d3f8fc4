import type { Logger } from "pino";
import type { SolanaProgramConfig } from "../../config/config.ts";
import { JsonRpcClient } from "../rpc/jsonRpcClient.ts";
import { ChainMismatch } from "../providers.ts";
import { describeInboxProgram, readInboxProgram, type ProgramAccount } from "./inboxProgram.ts";

const RPC_MS_MAX = 10_000;
const CONNECTIONS_MAX = 1;

/**
 * Compares the inbox program of a cluster with this release. A cluster that does not answer is no error. @throws
 * ChainMismatch with one sentence when its code differs, or a key can change it.
 */
export async function verifyInboxProgram(
  { name, address, rpcUrl }: SolanaProgramConfig,
  log: Logger,
): Promise<"verified" | "unreachable"> {
  const rpc = new JsonRpcClient({ url: rpcUrl, timeoutMs: RPC_MS_MAX, connectionsMax: CONNECTIONS_MAX });
  try {
    const state = await readInboxProgram(address, (account) => readAccount(rpc, account));
    if (state.kind !== "present")
      throw new ChainMismatch(`${name}: the inbox program ${address} ${describeInboxProgram(state)}.`);
    return "verified";
  } catch (error) {
    if (error instanceof ChainMismatch) throw error;
    log.warn({ chain: name, err: error }, `${name} does not answer: its inbox program is not verified`);
    return "unreachable";
  } finally {
    await rpc.close();
  }
}

async function readAccount(rpc: JsonRpcClient, address: string): Promise<ProgramAccount | undefined> {
  const options = { encoding: "base64", commitment: "finalized" };
  const answer = (await rpc.request("getAccountInfo", [address, options])) as {
    value: { owner: string; data: [base64: string, encoding: string] } | null;
  };
  if (answer.value === null) return undefined;
  return { owner: answer.value.owner, data: Buffer.from(answer.value.data[0], "base64") };
}
