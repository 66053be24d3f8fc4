import { ScriptedOneShotNode, type OneShotNode, type SendOutcome } from "./oneShotNode.ts";
import type { OneShotCall } from "./oneShotBytes.ts";
import { SimProvider, type ProviderContext, type SimNode } from "../simProvider.ts";

/** A provider of a chain without nonces, with the node methods that the sender needs. */
export class SimOneShotProvider extends SimProvider<ScriptedOneShotNode> implements OneShotNode {
  constructor(node: SimNode, context: ProviderContext) {
    super(node, context, (chain, view) => new ScriptedOneShotNode(chain, view));
  }

  nativeBalance(address: string): Promise<bigint> {
    return this.request("nativeBalance", (scripted) => scripted.nativeBalance(address));
  }

  simulate(call: OneShotCall): Promise<string> {
    return this.request("simulate", (scripted) => scripted.simulate(call));
  }

  send(bytes: string): Promise<SendOutcome> {
    return this.request("send", (scripted) => scripted.send(bytes), true);
  }
}
