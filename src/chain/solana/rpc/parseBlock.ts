import { parseArray, parseObject } from "../../rpc/jsonValues.ts";
import { parseAddress, parseCount, parseSignature, parseSlot } from "./values.ts";

/** A produced block. The answer does not name its slot. */
export type ProducedBlock = {
  slot: bigint;
  blockhash: string;
  previousBlockhash: string;
  parentSlot: bigint;
  /** Undefined where the node has not kept it. */
  timestampS: number | undefined;
  /** Of its transactions, in their order; undefined when they were not asked for. */
  signatures: readonly string[] | undefined;
};

/** Parses the answer to getBlock of a slot. */
export function parseProducedBlock(slot: bigint, answer: unknown): ProducedBlock {
  const { blockhash, previousBlockhash, parentSlot, blockTime, signatures } = parseObject(answer, "a block");
  return {
    slot,
    blockhash: parseAddress(blockhash, "a blockhash"),
    previousBlockhash: parseAddress(previousBlockhash, "a blockhash"),
    parentSlot: parseSlot(parentSlot),
    timestampS: blockTime === null ? undefined : parseCount(blockTime, "the time of a block"),
    signatures: signatures === undefined ? undefined : parseArray(signatures, "signatures").map(parseSignature),
  };
}
