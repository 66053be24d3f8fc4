import { ProviderFailed, type BlockRange } from "../../reader.ts";
import type { ListedSignature, SignaturePage, SolanaRpc } from "../rpc/solanaRpc.ts";

// Finds the transactions that name an address, by slots. Nodes list them from the newest on, in pages that continue
// before a signature. A node that does not know that signature answers with nothing or with its newest page, and nodes
// order a slot differently. So each page begins before a whole slot and must repeat the lowest slot of the one before
// it.

/** A million transactions; whoever needs more must be read in time. */
const PAGES_MAX = 1_000;
/** Of those in the range only the oldest are kept, because more than this are not fetched at once. */
const LISTED_MAX = 10_000;

export type SignatureList = {
  /** Those of the range, newest first. */
  listed: ListedSignature[];
  /** There are more in the range, newer than those. */
  isCut: boolean;
  /** The slot of the first transaction above the range that succeeded. */
  nextSlot: bigint | undefined;
  /**
   * Those of the oldest slot that succeeded, in any order, when the list reached the beginning of what the node knows.
   */
  beginning: readonly ListedSignature[] | undefined;
};

export async function listSignatures(rpc: SolanaRpc, address: string, range: BlockRange): Promise<SignatureList> {
  const found = new Map<string, ListedSignature>();
  const listing = new SignaturePages(rpc, { address, reachedSlot: range.toBlock });
  let nextSlot: bigint | undefined;
  let oldest: ListedSignature[] = [];
  let isCut = false;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const { entries, headSlot } = await listing.next();
    if (headSlot < range.toBlock)
      throw new ProviderFailed("unknown_block", `${rpc.name} is at slot ${headSlot}, before slot ${range.toBlock}`);
    for (const entry of entries) {
      if (entry.succeeded && oldest[0]?.slot !== entry.slot) oldest = [];
      if (entry.succeeded) oldest.push(entry);
      if (entry.succeeded && entry.slot > range.toBlock) nextSlot = entry.slot;
      if (entry.slot < range.fromBlock || entry.slot > range.toBlock) continue;
      found.set(entry.signature, entry);
    }
    for (const signature of found.keys()) {
      if (found.size <= LISTED_MAX || range.fromBlock === range.toBlock) break;
      found.delete(signature);
      isCut = true;
    }
    const isBelow = entries.some(({ slot }) => slot < range.fromBlock);
    if (isBelow || listing.isComplete)
      return { listed: [...found.values()], isCut, nextSlot, beginning: isBelow ? undefined : oldest };
  }
  throw new ProviderFailed("timeout", `${rpc.name} lists too many newer transactions of ${address}`);
}

class SignaturePages {
  readonly #rpc: SolanaRpc;
  readonly #address: string;
  readonly #reachedSlot: bigint;
  /** The last entry of a slot above the lowest one, from which the next page starts. */
  #before: ListedSignature | undefined;
  /** What the next page must repeat. */
  #lowest: readonly ListedSignature[] = [];
  /** The last page brought nothing new. */
  isComplete = false;

  constructor(rpc: SolanaRpc, { address, reachedSlot }: { address: string; reachedSlot: bigint }) {
    this.#rpc = rpc;
    this.#address = address;
    this.#reachedSlot = reachedSlot;
  }

  async next(): Promise<SignaturePage> {
    const asked = { before: this.#before?.signature, reachedSlot: this.#reachedSlot };
    const page = await this.#rpc.signatures(this.#address, asked);
    const { entries } = page;
    this.#assertFollows(entries);
    const repeated = new Set(this.#lowest.map(({ signature }) => signature));
    const last = entries.at(-1);
    this.isComplete = last === undefined || entries.every(({ signature }) => repeated.has(signature));
    if (last) {
      const above = entries.findLast(({ slot }) => slot > last.slot);
      this.#lowest = above ? entries.filter(({ slot }) => slot === last.slot) : [];
      this.#before = above ?? last;
    }
    return page;
  }

  #assertFollows(entries: readonly ListedSignature[]): void {
    const limit = this.#before?.slot;
    const listed = new Map(entries.map((entry) => [entry.signature, entry]));
    if (listed.size !== entries.length) throw this.#contradiction("one signature twice");
    if (this.#before && listed.has(this.#before.signature)) throw this.#contradiction("a page from another place");
    for (const [index, { slot }] of entries.entries())
      if (slot > (entries[index - 1]?.slot ?? limit ?? slot)) throw this.#contradiction("signatures in another order");
    for (const { signature, slot, succeeded } of this.#lowest) {
      const again = listed.get(signature);
      if (again?.slot !== slot || again.succeeded !== succeeded)
        throw this.#contradiction(`a page without ${signature}, which it listed before`);
    }
  }

  #contradiction(what: string): ProviderFailed {
    return new ProviderFailed("contradictory", `${this.#rpc.name} listed ${what} for ${this.#address}`);
  }
}
