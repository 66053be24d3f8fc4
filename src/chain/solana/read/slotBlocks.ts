import { ProviderFailed, type BlockRef } from "../../reader.ts";
import type { ProducedBlock } from "../rpc/parseBlock.ts";
import type { Commitment, SolanaRpc } from "../rpc/solanaRpc.ts";

// Every slot at or below the head is a block here. A slot without one is an empty block whose hash names the last
// produced one before it: `<blockhash>~<slot>`. So each is the parent of the next, which is what the code above kinds
// relies on.

/** The head's block may arrive a moment after its slot; one of the last slots has one. */
const HEAD_SLOTS = 32n;
/** Hashes whose slots are remembered, because nodes find no block by its hash. */
const HASHES_MAX = 2_048;

export class SlotBlocks {
  readonly #rpc: SolanaRpc;
  readonly #slotOf = new Map<string, bigint>();

  constructor(rpc: SolanaRpc) {
    this.#rpc = rpc;
  }

  async head(commitment: Commitment): Promise<BlockRef> {
    const slot = await this.#rpc.slot(commitment);
    const block = await this.#rpc.block(slot, { commitment });
    if (block !== undefined && block !== "skipped") return this.#toRef(block);
    const slots = await this.#rpc.producedSlotsBetween(slot > HEAD_SLOTS ? slot - HEAD_SLOTS : 0n, slot);
    const last = slots.at(-1);
    const before = last === undefined || last === slot ? undefined : await this.#rpc.block(last, { commitment });
    if (before === undefined || before === "skipped")
      throw new ProviderFailed("unknown_block", `${this.#rpc.name} does not have its ${commitment} block`);
    return this.#toRef(before);
  }

  /** Undefined for slots that the node does not have (yet, or any more). */
  async bySlot(slot: bigint): Promise<BlockRef | undefined> {
    const block = await this.#rpc.block(slot);
    if (block === "skipped") return this.#findSkipped(slot);
    return block && this.#toRef(block);
  }

  /** Finds only blocks that this reader has shown, as themselves or as parents, and slots without a block. */
  async byHash(hash: string): Promise<BlockRef | undefined> {
    const slot = this.#slotOf.get(hash) ?? slotInHash(hash);
    const block = slot === undefined ? undefined : await this.bySlot(slot);
    return block?.hash === hash ? block : undefined;
  }

  /**
   * Nodes name skipped slots and blocks that they lack alike. So the next produced block must say which one it follows,
   * and that one must be before the slot.
   */
  async #findSkipped(slot: bigint): Promise<BlockRef | undefined> {
    const [next] = await this.#rpc.producedSlots(slot, 1);
    if (next === undefined) return undefined;
    const child = next === slot ? undefined : await this.#rpc.block(next);
    if (child === undefined || child === "skipped")
      throw this.#contradiction(`slot ${slot} is skipped, and its list of blocks has slot ${next}`);
    // Its block exists, and this node lacks it.
    if (child.parentSlot >= slot) return undefined;
    const last = await this.#rpc.block(child.parentSlot);
    if (last === undefined || last === "skipped") return undefined;
    if (last.blockhash !== child.previousBlockhash)
      throw this.#contradiction(`block ${child.slot} follows another block than ${last.slot}`);
    return this.#remember({
      number: slot,
      hash: hashOfSkipped(last.blockhash, slot),
      parentHash: last.slot === slot - 1n ? last.blockhash : hashOfSkipped(last.blockhash, slot - 1n),
      timestampS: last.timestampS,
    });
  }

  #toRef({ slot, blockhash, previousBlockhash, parentSlot, timestampS }: ProducedBlock): BlockRef {
    const isNext = parentSlot === slot - 1n || slot === 0n;
    const parentHash = isNext ? previousBlockhash : hashOfSkipped(previousBlockhash, slot - 1n);
    return this.#remember({ number: slot, hash: blockhash, parentHash, timestampS });
  }

  #remember(block: BlockRef): BlockRef {
    for (const [hash, slot] of [[block.parentHash, block.number - 1n] as const, [block.hash, block.number] as const]) {
      this.#slotOf.delete(hash);
      this.#slotOf.set(hash, slot);
    }
    for (const hash of this.#slotOf.keys()) {
      if (this.#slotOf.size <= HASHES_MAX) break;
      this.#slotOf.delete(hash);
    }
    return block;
  }

  #contradiction(what: string): ProviderFailed {
    return new ProviderFailed("contradictory", `${this.#rpc.name} answered that ${what}`);
  }
}

export function isSkippedHash(hash: string): boolean {
  return hash.includes("~");
}

function hashOfSkipped(blockhash: string, slot: bigint): string {
  return `${blockhash}~${slot}`;
}

function slotInHash(hash: string): bigint | undefined {
  const digits = /~(?<slot>\d{1,15})$/.exec(hash)?.groups?.["slot"];
  return digits === undefined ? undefined : BigInt(digits);
}
