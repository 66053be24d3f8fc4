import { hubAddress } from "@tributary/inbox/hub";
import { callHub } from "./hub.ts";
import type { Contracts } from "./machine.ts";
import { codeKey } from "./state.ts";
import { callToken, type TokenSpec } from "./token.ts";

/** The tokens, the hub where it is deployed, and accounts that accept any call without effect. */
export function createContracts(tokens: readonly TokenSpec[]): Contracts {
  const tokenAt = new Map(tokens.map((token) => [token.address, token]));
  return (machine, call) => {
    const token = tokenAt.get(call.to);
    if (token) return callToken(machine, token, call);
    if (call.to === hubAddress && machine.state.get(codeKey(hubAddress)) > 0n) return callHub(machine, call.data);
    return { ok: true, output: "0x" };
  };
}
