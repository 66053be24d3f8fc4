import type { BlockRef } from "./reader.ts";

/** Callbacks of a feed. None may throw. */
export type HeadListener = {
  /** Pushes start now; heads between two connections are lost. */
  onOpen: () => void;
  onHead: (head: BlockRef) => void;
  /** In place of onHead where a feed knows only numbers: a new block may be there soon. */
  onHeadNumber?: (number: bigint) => void;
  /** The highest block known without the feed; undefined when none is. A feed that stays below it is stale. */
  highestKnown: () => bigint | undefined;
};

/**
 * A provider that pushes new heads. A push is only a trigger: readers verify it, and polling continues, because a feed
 * may miss heads.
 */
export interface HeadFeed {
  /** The provider's host for logs, without its key. */
  readonly name: string;
  /**
   * Connects once and pushes heads until `signal` aborts, the connection is lost or the feed is stale; resolves with
   * the reason. Throws ProviderFailed or ChainMismatch when it cannot start.
   */
  follow(listener: HeadListener, signal: AbortSignal): Promise<string>;
}
