import { ProviderFailed, type Holdings, type Transfer, type TransferScope } from "../../../src/chain/reader.ts";
import { SimProvider, type ProviderContext, type SimNode } from "../simProvider.ts";
import { ScriptedOneShotNode, type OneShotNode, type SendOutcome } from "./oneShotNode.ts";
import type { OneShotCall } from "./oneShotBytes.ts";

const NO_ACCOUNT = `0x${"00".repeat(20)}`;

/**
 * A node that lists a block's transfers only where a settlement made them, and keeps no past balances: all other transfers are found by the balances
 * of their inboxes.
 */
class ScriptedAccountsNode extends ScriptedOneShotNode {
  override async transfers(
    scope: TransferScope,
    tokens: readonly string[],
    parties?: readonly string[],
  ): Promise<Transfer[]> {
    const transfers = await super.transfers(scope, tokens, parties);
    return parties === undefined ? transfers.filter((transfer) => this.#isOfSettlement(transfer)) : transfers;
  }

  override async balances(): Promise<bigint[]> {
    throw new ProviderFailed("unknown_block", `${this.name} keeps no past balances`);
  }

  async holdings(token: string, owners: readonly string[]): Promise<Holdings> {
    const { number } = await this.head("latest");
    return { blockNumber: number, units: await super.balances(token, owners, { blockNumber: number }) };
  }

  /** Whether the transfer's transaction moved something that its sender does not own, as only the program of inboxes does. */
  #isOfSettlement({ chainTx, blockHash }: Transfer): boolean {
    const receipt = this.chain.receiptsOf(chainTx).find((each) => each.blockHash === blockHash);
    return (receipt?.logs ?? []).some(
      ({ transfer }) => transfer !== undefined && transfer.from !== receipt?.sender && transfer.from !== NO_ACCOUNT,
    );
  }
}

/** A provider of a chain that is read by accounts. */
export class SimAccountsProvider extends SimProvider<ScriptedAccountsNode> implements OneShotNode {
  constructor(node: SimNode, context: ProviderContext) {
    super(node, context, (chain, view) => new ScriptedAccountsNode(chain, view));
  }

  holdings(token: string, owners: readonly string[]): Promise<Holdings> {
    return this.request("holdings", (scripted) => scripted.holdings(token, owners));
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
