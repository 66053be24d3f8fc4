import type { World } from "../world.ts";
import { FeedStreams } from "./feed/feedStreams.ts";
import { createRateLimiters, type RateLimiters } from "./rate/rateLimiters.ts";

/** The world, the rate limiters, which the checks share, and the open streams of events. */
export type HttpContext = RateLimiters & { readonly world: World; readonly feedStreams: FeedStreams };

export function createHttpContext(world: World): HttpContext {
  return { ...createRateLimiters(world), world, feedStreams: new FeedStreams(world) };
}
