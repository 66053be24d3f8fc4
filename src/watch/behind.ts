import { secondsBetween, type BlockRef } from "../chain/reader.ts";
import { NEAR_HEAD, type BlockSpan } from "./blockTime.ts";

/** What counts as behind. Alarms, `doctor`, `status` and `watch status` read this table, so that they agree. */
export const BEHIND = {
  /** A provider's head below the highest head of its chain: the longer of this time and so many blocks. */
  provider: { ms: 20_000, blocks: 3 },
  /** A provider's head below the recorded block: it cannot confirm the block. */
  recorded: NEAR_HEAD satisfies BlockSpan,
  /** The recorded block below the head. */
  scan: { ms: 120_000 },
} as const;

/** `blockMs`: undefined while it is unknown. */
export function isProviderBehind(head: BlockRef, highest: BlockRef, blockMs = 0): boolean {
  const lagMs = (secondsBetween(head, highest) ?? 0) * 1_000;
  return lagMs > Math.max(BEHIND.provider.ms, BEHIND.provider.blocks * blockMs);
}

/** Unknown block times show no lag. */
export function isScanBehind(lagBlocks: bigint, blockMs: number | undefined): boolean {
  return blockMs !== undefined && Number(lagBlocks) * blockMs > BEHIND.scan.ms;
}
