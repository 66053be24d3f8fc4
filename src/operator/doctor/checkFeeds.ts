import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import type { HeadFeed } from "../../chain/headFeed.ts";
import { ChainMismatch } from "../../chain/providers.ts";
import type { ChainConfig } from "../../config/config.ts";
import type { Finding } from "./finding.ts";

/**
 * Connects to every WebSocket of a chain until its subscription is open. Findings name hosts only, because URLs contain
 * keys.
 */
export async function checkFeeds({ name }: ChainConfig, { feeds }: Chain): Promise<Finding[]> {
  return Promise.all(feeds.map(async (feed) => ({ what: `${name}: websocket`, ...(await checkFeed(feed)) })));
}

async function checkFeed(feed: HeadFeed): Promise<Omit<Finding, "what">> {
  const ending = new AbortController();
  const listener = { onOpen: () => ending.abort(), onHead: () => undefined, highestKnown: () => undefined };
  try {
    const reason = await feed.follow(listener, ending.signal);
    if (ending.signal.aborted) return { verdict: "ok", found: `${feed.name} pushes new heads` };
    return { verdict: "warn", found: `${feed.name}: ${reason}` };
  } catch (error) {
    // A failing WebSocket only warns, because polling finds the same blocks later.
    if (error instanceof ProviderFailed) return { verdict: "warn", found: error.message };
    if (error instanceof ChainMismatch) return { verdict: "fail", found: error.message };
    throw error;
  }
}
