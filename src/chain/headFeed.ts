import type { BlockRef } from "./reader.ts";

/** What a feed calls. None may throw. */
export type HeadListener = {
  /** Heads are told from now on; those between two connections were told to nobody. */
  onOpen: () => void;
  onHead: (head: BlockRef) => void;
  /** The highest block that is known without the feed, if any is: one that stays below it has nothing to tell. */
  highestKnown: () => bigint | undefined;
};

/**
 * A provider that tells of new heads by itself. It is a trigger and no authority: what it says is compared with what a reader answers,
 * and whoever stops asking because of it would miss what it does not tell.
 */
export interface HeadFeed {
  /** For logs: the host of the provider, never its key. */
  readonly name: string;
  /**
   * Connects once and tells of heads until `signal` aborts, or until the connection is lost or no longer tells of what is there; resolves
   * with the reason. Throws ProviderFailed or ChainMismatch when it never came to tell.
   */
  follow(listener: HeadListener, signal: AbortSignal): Promise<string>;
}
