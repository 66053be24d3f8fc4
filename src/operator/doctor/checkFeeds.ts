import type { Chain } from "../../chain/chain.ts";
import { ProviderFailed } from "../../chain/driver.ts";
import type { HeadFeed } from "../../chain/headFeed.ts";
import { ChainMismatch } from "../../chain/providers.ts";
import type { ChainConfig } from "../../config/config.ts";
import type { Finding } from "./finding.ts";

/** Connects once to every websocket of a chain, until it would tell of heads. A finding for each, by its host alone. */
export async function checkFeeds({ name }: ChainConfig, { feeds }: Chain): Promise<Finding[]> {
  return Promise.all(feeds.map(async (feed) => ({ what: `${name}: websocket`, ...(await checkFeed(feed)) })));
}

async function checkFeed(feed: HeadFeed): Promise<Omit<Finding, "what">> {
  const ending = new AbortController();
  const listener = { onOpen: () => ending.abort(), onHead: () => undefined, highestKnown: () => undefined };
  try {
    const reason = await feed.follow(listener, ending.signal);
    if (ending.signal.aborted) return { verdict: "ok", found: `${feed.name} tells of heads` };
    return { verdict: "warn", found: `${feed.name}: ${reason}` };
  } catch (error) {
    // What websockets do not tell is found by asking, later.
    if (error instanceof ProviderFailed) return { verdict: "warn", found: error.message };
    if (error instanceof ChainMismatch) return { verdict: "fail", found: error.message };
    throw error;
  }
}
