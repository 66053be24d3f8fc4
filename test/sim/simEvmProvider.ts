import { ProviderFailed } from "../../src/chain/reader.ts";
import type { EvmCall, EvmNode, EvmReceipt, FeeQuote, SubmitOutcome } from "../../src/chain/evm/node.ts";
import { openScriptedNode, type ScriptedNode } from "./chain/scriptedNode.ts";
import { forgedReceipt } from "./forgeTransfers.ts";
import { MAX_FEE_PER_GAS } from "./plan.ts";
import { SimProvider, type ProviderContext, type SimNode } from "./simProvider.ts";

/** Far above the ceiling of the chain, in wei per gas. */
const FALSE_TIP = 15n * MAX_FEE_PER_GAS;

/** A provider of an EVM chain, with the node methods that the sender needs. */
export class SimEvmProvider extends SimProvider<ScriptedNode> implements EvmNode {
  constructor(node: SimNode, context: ProviderContext) {
    super(node, context, openScriptedNode);
  }

  receipt(chainTx: string): Promise<EvmReceipt | undefined> {
    return this.request("receipt", async (scripted) => {
      const receipt = await scripted.receipt(chainTx);
      return receipt ?? (this.forgery && forgedReceipt(chainTx, this.recentBlocks()));
    });
  }

  hasCode(address: string): Promise<boolean> {
    return this.request("hasCode", (scripted) => scripted.hasCode(address));
  }

  nonce(address: string): Promise<bigint> {
    return this.request("nonce", (scripted) => scripted.nonce(address));
  }

  nativeBalance(address: string): Promise<bigint> {
    return this.request("nativeBalance", (scripted) => scripted.nativeBalance(address));
  }

  fees(): Promise<FeeQuote> {
    return this.request("fees", async (scripted) => {
      const quote = await scripted.fees();
      return this.shouldInject("falseFees") ? { ...quote, maxPriorityFeePerGas: FALSE_TIP } : quote;
    });
  }

  blockGasLimit(): Promise<bigint> {
    return this.request("blockGasLimit", (scripted) => scripted.blockGasLimit());
  }

  estimateGas(call: EvmCall): Promise<bigint> {
    return this.request("estimateGas", (scripted) => scripted.estimateGas(call));
  }

  call(call: EvmCall): Promise<string> {
    return this.request("call", (scripted) => scripted.call(call));
  }

  /**
   * Never throws, as in a real node's submit. A lost request or reply is `unknown`, whether or not the bytes arrived.
   */
  async submit(rawTransaction: string): Promise<SubmitOutcome> {
    try {
      return await this.request("submit", (scripted) => scripted.submit(rawTransaction), true);
    } catch (error) {
      if (!(error instanceof ProviderFailed)) throw error;
      return { kind: "unknown", reason: error.message };
    }
  }
}
