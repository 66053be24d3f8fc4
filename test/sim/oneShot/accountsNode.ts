import {
  ProviderFailed,
  type Holdings,
  type TransactionProof,
  type Transfer,
  type TransferScope,
} from "../../../src/chain/reader.ts";
import type { UnreadableEntry, UnreadableVerdict } from "../../../src/chain/unreadable/unreadableEntry.ts";
import { isPayer, SimProvider, type ProviderContext, type SimNode } from "../simProvider.ts";
import { ScriptedOneShotNode, type OneShotNode, type SendOutcome } from "./oneShotNode.ts";
import type { OneShotCall } from "./oneShotBytes.ts";

const NO_ACCOUNT = `0x${"00".repeat(20)}`;

/**
 * A node that lists a block's transfers only where a settlement made them, and keeps no past balances: all other
 * transfers are found by the balances of their inboxes.
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

  /**
   * Whether the transfer's transaction moved something that its sender does not own, as only the program of inboxes
   * does.
   */
  #isOfSettlement({ chainTx, blockHash }: Transfer): boolean {
    const receipt = this.chain.receiptsOf(chainTx).find((each) => each.blockHash === blockHash);
    return (receipt?.logs ?? []).some(
      ({ transfer }) => transfer !== undefined && transfer.from !== receipt?.sender && transfer.from !== NO_ACCOUNT,
    );
  }
}

/** How long a payment stays unreadable: until the service is upgraded. */
const UNREADABLE_MS_MIN = 20_000;
const UNREADABLE_MS_MAX = 400_000;
const REASON = "version 2";

/** A provider of a chain that is read by accounts. */
export class SimAccountsProvider extends SimProvider<ScriptedAccountsNode> implements OneShotNode {
  constructor(node: SimNode, context: ProviderContext) {
    super(node, context, (chain, view) => new ScriptedAccountsNode(chain, view));
  }

  override async transfers(
    scope: TransferScope,
    tokens: readonly string[],
    parties?: readonly string[],
  ): Promise<Transfer[]> {
    if (parties?.some((party) => (this.unreadable.inboxes.get(party) ?? 0) > this.nowMs) === true)
      throw new ProviderFailed("unknown_block", `${this.name} does not list the transfers of this account`);
    const transfers = await super.transfers(scope, tokens, parties);
    for (const { chainTx, from } of transfers) this.#mayBecomeUnreadable(chainTx, from);
    const payments = transfers.filter(({ chainTx }) => this.#isUnreadable(chainTx));
    const strangers = parties === undefined ? this.#strangersIn(scope) : [];
    const entries = [...payments.map((each) => toEntry(each)), ...strangers];
    const failing = entries.filter(({ key }) => scope.skipped?.has(key) !== true);
    if (failing.length > 0) throw this.#fail(failing);
    return transfers.filter((transfer) => !payments.includes(transfer));
  }

  override async proofs(chainTxs: readonly string[]): Promise<TransactionProof[]> {
    const proofs = await super.proofs(chainTxs);
    const failing = proofs.filter(({ chainTx }) => this.#isUnreadable(chainTx));
    if (failing.length > 0)
      throw this.#fail(failing.map(({ chainTx, blockNumber }) => toEntry({ chainTx, blockNumber })));
    return proofs;
  }

  async recheckUnreadable(entries: readonly UnreadableEntry[]): Promise<ReadonlyMap<string, UnreadableVerdict>> {
    const known = await super.proofs(entries.map(({ key }) => key));
    const onChain = new Set(known.map(({ chainTx }) => chainTx));
    const strangers = new Set(this.#strangersOnChain().map(([hash]) => strangerTx(hash)));
    return new Map(
      entries.map(({ key }): [string, UnreadableVerdict] => {
        if (strangers.has(key) || (onChain.has(key) && this.#isUnreadable(key)))
          return [key, { state: "unreadable", reason: REASON }];
        return [key, { state: onChain.has(key) ? "readable" : "unknown" }];
      }),
    );
  }

  #fail(unreadable: readonly UnreadableEntry[]): ProviderFailed {
    return new ProviderFailed("unreadable", `${this.name} has what this release cannot read`, { unreadable });
  }

  #isUnreadable(chainTx: string): boolean {
    return (this.unreadable.payments.get(chainTx) ?? 0) > this.nowMs;
  }

  #mayBecomeUnreadable(chainTx: string, from: string): void {
    const { payments } = this.unreadable;
    if (payments.has(chainTx) || !isPayer(from)) return;
    const untilMs = this.nowMs + this.chooseMs(UNREADABLE_MS_MIN, UNREADABLE_MS_MAX);
    payments.set(chainTx, this.shouldInject("unreadablePayment") ? untilMs : undefined);
  }

  /** A stranger may name the program in any block. Such a transaction stays unreadable. */
  #strangersIn(scope: TransferScope): UnreadableEntry[] {
    const { strangers } = this.unreadable;
    const [newest] = this.recentBlocks();
    if (newest !== undefined && this.shouldInject("unreadableStranger")) strangers.set(newest.hash, newest.number);
    const isInScope = (number: bigint, hash: string) =>
      "blockHash" in scope ? hash === scope.blockHash : number >= scope.fromBlock && number <= scope.toBlock;
    return this.#strangersOnChain().flatMap(([hash, blockNumber]) =>
      isInScope(blockNumber, hash) ? [toEntry({ chainTx: strangerTx(hash), blockNumber })] : [],
    );
  }

  #strangersOnChain(): [hash: string, number: bigint][] {
    return [...this.unreadable.strangers].filter(([hash, number]) => this.hasBlock(number, hash));
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

type Unread = Pick<Transfer, "chainTx" | "blockNumber"> & Partial<Pick<Transfer, "from" | "to">>;

function toEntry({ chainTx, blockNumber, from, to }: Unread): UnreadableEntry {
  const names = [from, to].filter((address) => address !== undefined);
  const shared = { kind: "transaction", place: undefined, reason: REASON } as const;
  return { key: chainTx, chainTx, blockNumber, names, namesProgram: names.length === 0, ...shared };
}

function strangerTx(blockHash: string): string {
  return `stranger ${blockHash}`;
}
