import { hubAddress } from "@tributary/inbox/hub";
import { callHub } from "./hub.ts";
import { callBridge, type BridgeSpec } from "./bridge.ts";
import type { Contracts } from "./machine.ts";
import { codeKey } from "./state.ts";
import { callToken, type TokenSpec } from "./token.ts";

/** The tokens, the hub where it is deployed, the bridge, and accounts that accept any call without effect. */
export function createContracts(tokens: readonly TokenSpec[], bridge?: BridgeSpec): Contracts {
  const tokenAt = new Map(tokens.map((token) => [token.address, token]));
  return (machine, call) => {
    const token = tokenAt.get(call.to);
    if (token) return callToken(machine, token, call);
    if (call.to === hubAddress && machine.state.get(codeKey(hubAddress)) > 0n)
      return callHub(machine, call.data, bridge?.minter);
    if (bridge && (call.to === bridge.messenger || call.to === bridge.transmitter))
      return callBridge(machine, bridge, call);
    return { ok: true, output: "0x" };
  };
}
