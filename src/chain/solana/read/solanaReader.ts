import { caip2, type Caip2 } from "../../../kernel/caip.ts";
import {
  ProviderFailed,
  type BlockRef,
  type ChainIdentity,
  type HeadTag,
  type Holdings,
  type TransactionProof,
  type Transfer,
  type TransferScope,
} from "../../reader.ts";
import { BRIDGE_MINTER } from "../bridge/bridgeMints.ts";
import { parseProvenBurns, toProvenMints } from "../bridge/provenCrossings.ts";
import type { SolanaNode } from "../node.ts";
import { SolanaRpc } from "../rpc/solanaRpc.ts";
import { isSignature } from "../rpc/values.ts";
import type { UnreadableEntry, UnreadableVerdict } from "../../unreadable/unreadableEntry.ts";
import { toUnlistedEntries, unreadableTransactions } from "./listedTransactions.ts";
import { fetchTransactions, locateTransactions, type LocatedTransaction } from "./locateTransactions.ts";
import { Mints } from "./mints.ts";
import { readHoldings, type AccountUnits } from "./readHoldings.ts";
import { expectAccounts, readTransfers, toTransfers, type TransferSource } from "./readTransfers.ts";
import { SlotBlocks } from "./slotBlocks.ts";
import { findTransfers } from "./transactionTransfers.ts";

const REFERENCE_LENGTH = 32;

export type SolanaReaderOptions = {
  caip2: Caip2;
  url: string;
  /** The inbox program of the cluster. */
  program: string;
  /** Limit in milliseconds for every request. */
  timeoutMs?: number;
};

/** Opens one provider of a cluster. Makes no request, so an unreachable provider does not matter. */
export function openSolanaReader(options: SolanaReaderOptions): SolanaReader {
  return new SolanaReader(options);
}

/**
 * One provider of a cluster over JSON-RPC. A block is a slot, and inboxes are read by their token accounts. Every error
 * is a ProviderFailed.
 */
export class SolanaReader implements SolanaNode {
  readonly caip2: Caip2;
  readonly name: string;
  readonly mintSender = BRIDGE_MINTER;
  readonly #rpc: SolanaRpc;
  readonly #source: TransferSource;

  constructor({ caip2: chain, url, program, timeoutMs }: SolanaReaderOptions) {
    this.caip2 = chain;
    this.#rpc = new SolanaRpc({ url, timeoutMs });
    this.name = this.#rpc.name;
    this.#source = {
      rpc: this.#rpc,
      program,
      mints: new Mints(this.#rpc),
      blocks: new SlotBlocks(this.#rpc),
    };
  }

  async identify(): Promise<ChainIdentity> {
    const genesisHash = await this.#rpc.genesisHash();
    return { caip2: caip2("solana", genesisHash.slice(0, REFERENCE_LENGTH)), genesisHash };
  }

  async head(tag: HeadTag): Promise<BlockRef> {
    return this.#source.blocks.head(tag === "finalized" ? "finalized" : "confirmed");
  }

  async block(at: { number: bigint } | { hash: string }): Promise<BlockRef | undefined> {
    const { blocks } = this.#source;
    return "hash" in at ? blocks.byHash(at.hash) : blocks.bySlot(at.number);
  }

  async transfers(scope: TransferScope, tokens: readonly string[], parties?: readonly string[]): Promise<Transfer[]> {
    return readTransfers(this.#source, scope, { tokens, parties });
  }

  async holdings(token: string, owners: readonly string[]): Promise<Holdings> {
    const { lowestSlot, units } = await this.#readUnits(token, owners);
    return { blockNumber: lowestSlot, units: units.map((each) => each ?? 0n) };
  }

  async proofs(chainTxs: readonly string[]): Promise<TransactionProof[]> {
    // A text that is no signature names no transaction of this chain.
    const signatures = [...new Set(chainTxs.filter(isSignature))];
    const { transactions, unreadable } = await fetchTransactions(this.#rpc, signatures);
    if (unreadable.length > 0)
      throw unreadableTransactions(this.name, toUnlistedEntries(unreadable, this.#source.program));
    const located = await locateTransactions(this.#rpc, transactions);
    return located.map((transaction) => this.#toProof(transaction));
  }

  async recheckUnreadable(entries: readonly UnreadableEntry[]): Promise<ReadonlyMap<string, UnreadableVerdict>> {
    const signatures = entries.map(({ key }) => key).filter(isSignature);
    const { transactions, unreadable } = await fetchTransactions(this.#rpc, signatures);
    const verdicts = new Map<string, UnreadableVerdict>(signatures.map((each) => [each, { state: "unknown" }]));
    for (const { signature } of transactions) verdicts.set(signature, { state: "readable" });
    for (const { signature, reason } of unreadable) verdicts.set(signature, { state: "unreadable", reason });
    return verdicts;
  }

  /** Nodes know only the present. */
  async balances(token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]> {
    const { lowestSlot, highestSlot, units } = await this.#readUnits(token, owners);
    if (lowestSlot !== at.blockNumber || highestSlot !== at.blockNumber)
      throw new ProviderFailed("unknown_block", `${this.name} knows no balances of block ${at.blockNumber} any more`);
    return units.map((each) => each ?? 0n);
  }

  async tokenDecimals(token: string): Promise<number | undefined> {
    return (await this.#source.mints.find(token))?.decimals;
  }

  request(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.#rpc.call(method, params);
  }

  /** Closes the sockets; pending calls fail. */
  async close(): Promise<void> {
    await this.#rpc.close();
  }

  async #readUnits(token: string, owners: readonly string[]): Promise<AccountUnits> {
    if (owners.length === 0) {
      const slot = await this.#rpc.slot("confirmed");
      return { lowestSlot: slot, highestSlot: slot, units: [] };
    }
    return readHoldings(this.#rpc, await expectAccounts(this.#source, [token], owners));
  }

  #toProof(transaction: LocatedTransaction): TransactionProof {
    const { signature: chainTx, slot: blockNumber, blockHash, succeeded } = transaction;
    let known: Transfer[] | undefined;
    const transfers = () => (known ??= toTransfers(this.#source, transaction));
    return {
      chainTx,
      blockNumber,
      blockHash,
      succeeded,
      transfers,
      crossings: () => [...parseProvenBurns(transaction), ...toProvenMints(findTransfers(transaction, this.#source))],
      identityAt: (place) => transfers().find((each) => each.place === place)?.identity,
    };
  }
}
