import { ChainRefused, type ChainReader } from "../../../src/chain/reader.ts";
import type { ScriptedChain } from "../chain/scriptedChain.ts";
import { ScriptedReader, type NodeView } from "../chain/scriptedReader.ts";
import { accountNaming } from "./accountNaming.ts";
import type { OneShotCall } from "./oneShotBytes.ts";

/** `expired`: no later block can include these bytes. */
export type SendOutcome = "taken" | "expired" | "no_funds";

/**
 * The node methods that this kind's sender needs beyond the reader. Signed bytes are valid up to one block, in any
 * order, and at most once.
 */
export interface OneShotNode extends ChainReader {
  nativeBalance(address: string): Promise<bigint>;
  /** Returns the output of a call on the present state. Throws ChainRefused when it fails. */
  simulate(call: OneShotCall): Promise<string>;
  send(bytes: string): Promise<SendOutcome>;
}

const NOBODY = "nobody";

/** One node of a scripted chain of this kind. */
export class ScriptedOneShotNode extends ScriptedReader implements OneShotNode {
  constructor(chain: ScriptedChain, view: NodeView = {}) {
    super(chain, accountNaming, view);
  }

  async simulate(call: OneShotCall): Promise<string> {
    const { ok, output } = this.chain.simulateCall({ from: NOBODY, ...call });
    if (!ok) throw new ChainRefused(`the program failed: ${output}`);
    return output;
  }

  async send(bytes: string): Promise<SendOutcome> {
    return this.chain.sendOneShot(bytes);
  }
}
