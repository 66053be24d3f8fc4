import type { TransactionProof } from "../../../src/chain/reader.ts";
import {
  CallReverted,
  type EvmCall,
  type EvmNode,
  type EvmReceipt,
  type FeeQuote,
  type SubmitOutcome,
} from "../../../src/chain/evm/node.ts";
import { createProof } from "../../../src/chain/evm/proof.ts";
import { parseProvenCrossings, type BridgeContracts } from "../../../src/chain/evm/bridge/provenCrossings.ts";
import type { ScriptedChain } from "./scriptedChain.ts";
import { ScriptedReader, type NodeView, type TransferNaming } from "./scriptedReader.ts";
import { codeKey, nonceKey } from "./state.ts";
import type { ScriptedReceipt } from "./transaction.ts";

const TIP = 1_000_000_000n;
const BLOCK_GAS_MAX = 30_000_000n;
const ZERO_SENDER = `0x${"0".repeat(40)}`;

/** Opens a node of a scripted EVM chain. */
export function openScriptedNode(chain: ScriptedChain, view: NodeView = {}): ScriptedNode {
  return new ScriptedNode(chain, view);
}

/** One node of a scripted EVM chain. It throws the errors of the port. */
export class ScriptedNode extends ScriptedReader implements EvmNode {
  constructor(chain: ScriptedChain, view: NodeView) {
    super(chain, createLogNaming(chain.bridge), view);
  }

  async receipt(chainTx: string): Promise<EvmReceipt | undefined> {
    const receipt = this.receiptOf(chainTx);
    if (!receipt) return undefined;
    const { blockNumber, blockHash, succeeded, gasUsed } = receipt;
    return { chainTx, blockNumber, blockHash, succeeded, gasUsed };
  }

  async hasCode(address: string): Promise<boolean> {
    return this.now(codeKey(address)) > 0n;
  }

  async nonce(address: string): Promise<bigint> {
    return this.now(nonceKey(address));
  }

  async fees(): Promise<FeeQuote> {
    return { baseFeePerGas: this.chain.baseFee, maxPriorityFeePerGas: TIP };
  }

  async blockGasLimit(): Promise<bigint> {
    return BLOCK_GAS_MAX;
  }

  async estimateGas(call: EvmCall): Promise<bigint> {
    const { from = ZERO_SENDER, to, data } = call;
    return this.chain.estimateGas({ from, to, data }) ?? this.#try(call).gasUsed;
  }

  async call(call: EvmCall): Promise<string> {
    return this.#try(call).output;
  }

  async submit(rawTransaction: string): Promise<SubmitOutcome> {
    return this.chain.submit(rawTransaction);
  }

  #try({ from = ZERO_SENDER, to, data, gas }: EvmCall): { output: string; gasUsed: bigint } {
    const tried = this.chain.simulateCall({ from, to, data }, gas);
    if (!tried.ok) throw new CallReverted(`execution reverted: ${tried.output}`);
    return tried;
  }
}

/** A transfer's place is its log index in the block; its identity is the log index in the receipt. */
export const logNaming: TransferNaming = {
  transfersOf({ chainTx, blockNumber, blockHash, logs }) {
    return logs.flatMap(({ address: token, transfer, logIndex }, index) => {
      if (!transfer) return [];
      const { from, to, units } = transfer;
      const amountText = `0x${units.toString(16)}`;
      const place = BigInt(logIndex);
      return { token, from, to, amountText, chainTx, place, blockNumber, blockHash, identity: String(index) };
    });
  },
  proofOf: (receipt) => proofOf(receipt, undefined),
};

/** The naming of a chain with a bridge: its proofs show what begins or ends to cross. */
function createLogNaming(bridge: BridgeContracts | undefined): TransferNaming {
  return bridge === undefined ? logNaming : { ...logNaming, proofOf: (receipt) => proofOf(receipt, bridge) };
}

function proofOf(receipt: ScriptedReceipt, bridge: BridgeContracts | undefined): TransactionProof {
  const { chainTx, blockNumber, blockHash, succeeded, logs } = receipt;
  const [logIndexFirst, logCount] = [logs[0]?.logIndex, logs.length];
  return createProof({
    chainTx,
    blockNumber,
    blockHash,
    succeeded,
    logIndexFirst,
    logCount,
    transfers: () => logNaming.transfersOf(receipt),
    ...(bridge && { crossings: () => parseProvenCrossings(logs, bridge) }),
  });
}
