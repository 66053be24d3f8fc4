import { JsonRpcClient } from "../chain/rpc/jsonRpcClient.ts";
import { caip2 } from "../kernel/caip.ts";
import type { AccountRow } from "../merchant/store.ts";
import type { World } from "../world.ts";

// Whether the recovery of an account reaches other chains. Without a recovery key the payout wallet recovers, and a
// wallet that is a contract exists on its own chain only: nobody signs for its address elsewhere.

const ANSWER_MS_MAX = 5_000;
/** A key's account that lends its address the code of a contract (EIP-7702) still signs everywhere. */
const DELEGATION = /^0xef0100[0-9a-f]{40}$/i;

type Payout = Pick<AccountRow, "payout_namespace" | "payout_chain_reference" | "payout_wallet" | "recovery">;

/** What an operator should know about an account's recovery; none where all is well, or where no provider answers. */
export async function warnOfRecovery(world: World, row: Payout): Promise<string[]> {
  const { payout_namespace: namespace, payout_chain_reference: reference, payout_wallet: wallet, recovery } = row;
  if (namespace === "solana")
    return recovery !== null || world.config.bridge === undefined
      ? []
      : [
          "It is paid out on Solana and has no recovery address on EVM chains, so payments from there are not taken. Name one with --recovery.",
        ];
  if (namespace !== "eip155" || reference === null || wallet === null || recovery !== null) return [];
  if (!(await isContract(world, { chain: caip2(namespace, reference), wallet }))) return [];
  return [
    `Its payout wallet ${wallet} is a contract, and it has no recovery key: on other chains, where that contract does not exist, nobody can recover what arrives. Name a key with --recovery.`,
  ];
}

async function isContract(world: World, { chain, wallet }: { chain: string; wallet: string }): Promise<boolean> {
  const config = world.config.chains.find((each) => each.caip2 === chain);
  const [url] = config?.rpcUrls ?? [];
  if (url === undefined) return false;
  const rpc = new JsonRpcClient({ url, timeoutMs: ANSWER_MS_MAX, connectionsMax: 1 });
  try {
    const code = await rpc.request("eth_getCode", [wallet, "latest"]).catch(() => "0x");
    return typeof code === "string" && code !== "0x" && !DELEGATION.test(code);
  } finally {
    await rpc.close();
  }
}
