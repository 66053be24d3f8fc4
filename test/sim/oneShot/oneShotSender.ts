import { hubAddress } from "@tributary/inbox/hub";
import {
  decodeFailures,
  settleCall,
  settleManyCall,
  settleNothingCall,
} from "../../../src/chain/evm/send/settleCall.ts";
import { deleteOutgoingBytes } from "../../../src/chain/outgoing/outgoingStore.ts";
import type { Tx } from "../../../src/db/database.ts";
import type { Chain } from "../../../src/chain/chain.ts";
import type { HeadFeed } from "../../../src/chain/headFeed.ts";
import { Providers } from "../../../src/chain/providers.ts";
import { ChainRefused } from "../../../src/chain/reader.ts";
import {
  SettleRefused,
  type ChainSender,
  type PreparedSettlement,
  type SenderWorld,
  type SettleItem,
} from "../../../src/chain/sender.ts";
import { OneShotOutgoing } from "./oneShotOutgoing.ts";
import type { OneShotNode } from "./oneShotNode.ts";

/** Creates a chain of this kind from its nodes. */
export function createOneShotChain(
  parts: { nodes: readonly [OneShotNode, ...OneShotNode[]]; payer: string; feeds?: readonly HeadFeed[] },
  world: Pick<SenderWorld, "clock" | "log">,
): Chain {
  const { nodes, payer, feeds = [] } = parts;
  const providers = new Providers(nodes, world);
  return {
    caip2: providers.caip2,
    detection: nodes[0].holdings === undefined ? "blocks" : "balances",
    readers: nodes,
    providers,
    sender: new OneShotSender(providers, payer),
    feeds,
  };
}

/** Settles without nonces. Each transaction is valid for some blocks; a new one is signed after they pass. */
class OneShotSender implements ChainSender {
  readonly payer: string;
  readonly #providers: Providers<OneShotNode>;
  readonly #outgoing: OneShotOutgoing;

  constructor(providers: Providers<OneShotNode>, payer: string) {
    this.payer = payer;
    this.#providers = providers;
    this.#outgoing = new OneShotOutgoing(providers, payer);
  }

  batchKeys(items: readonly SettleItem[]): string[] {
    return items.map(({ hub }) => hub);
  }

  /** Its fee does not change. */
  async isWithinFeeCeiling(): Promise<boolean> {
    return true;
  }

  async settlementFee(): Promise<bigint> {
    return 0n;
  }

  async feeStatus(): Promise<{ isWithinCeiling: boolean; text: string }> {
    return { isWithinCeiling: true, text: "constant" };
  }

  /** Asks every provider. An item is refused when no provider can settle it. */
  async refusals(items: readonly SettleItem[]): Promise<(string | undefined)[]> {
    const replies = await this.#providers.runAll((node) => simulate(node, items), "available");
    const answers = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
    if (answers.length === 0) throw toRefused(replies.flatMap((each) => ("error" in each ? [each.error] : []))[0]);
    return items.map((_, index) => {
      const reasons = answers.map((answer) => answer[index]);
      return reasons.includes(undefined) ? undefined : reasons[0];
    });
  }

  async prepare(_world: SenderWorld, items: readonly SettleItem[]): Promise<PreparedSettlement> {
    const call = settleCall(items);
    try {
      await this.#providers.run((node) => node.simulate(call));
    } catch (error) {
      if (!(error instanceof ChainRefused) || this.#providers.providerCount < 2) throw toRefused(error);
      await this.#providers
        .runLastFirst((node) => node.simulate(call))
        .catch((second: unknown) => {
          throw toRefused(second);
        });
    }
    const { number } = await this.#providers.head("latest");
    return { store: (tx, at) => this.#outgoing.store(tx, { call, head: number, at }) };
  }

  process(world: SenderWorld): Promise<void> {
    return this.#outgoing.process(world);
  }

  deleteBytes(tx: Tx, closed: { ids: readonly bigint[]; at: Date }): Promise<void> {
    return deleteOutgoingBytes(tx, closed);
  }

  feeBalance(): Promise<bigint> {
    return this.#providers.run((node) => node.nativeBalance(this.payer));
  }

  async verify(): Promise<void> {
    // The program is part of the chain, so a simulated call suffices.
    await this.#providers.run((node) => node.simulate({ to: hubAddress, data: settleNothingCall(hubAddress).data }));
  }
}

async function simulate(node: OneShotNode, items: readonly SettleItem[]): Promise<(string | undefined)[]> {
  const failures = decodeFailures(await node.simulate(settleManyCall(items)));
  return failures.map((name) => (name === undefined ? undefined : `settle_refused ${name}`));
}

function toRefused(error: unknown): unknown {
  return error instanceof ChainRefused ? new SettleRefused(error.message, { cause: error }) : error;
}
