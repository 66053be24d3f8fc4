import type { ServerResponse } from "node:http";
import type { Caip2 } from "../../kernel/caip.ts";
import type { Clock } from "../../kernel/clock.ts";
import { Fault } from "../../kernel/faults.ts";
import { toWholeSeconds } from "../checks/checkRateLimit.ts";
import { toClientNetwork } from "../rate/clientNetwork.ts";
import { onceClosed } from "../wire/onceClosed.ts";

/** Of one chain in this process. */
const HINTS_PER_SECOND = 20;
/** Bodies that are read at once: in this process, and of one network. Nothing is proven before a body is whole. */
const BODIES_MAX = 16;
const BODIES_OF_NETWORK_MAX = 4;
/** Wrong proofs of a network in a minute, after which its bodies are not read. */
const REFUSED_MAX = 60;
const REFUSED_MS = 60_000;
/** Networks whose wrong proofs are counted; the first is forgotten first. */
const NETWORKS_MAX = 10_000;

type Refused = { sinceMs: number; count: number };

/** What the hints of all providers may cost this process, and what a sender without a secret may. */
export class HintLimits {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #perSecond = new Map<Caip2, { second: number; count: number }>();
  /** The network of each request whose body is read. */
  readonly #reading = new Map<ServerResponse, string>();
  readonly #refused = new Map<string, Refused>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
    this.#clock = clock;
  }

  /** Throws rate_limited for a network with too many wrong proofs, and while too many bodies are read. */
  beginReading(ip: string, response: ServerResponse): void {
    const network = toClientNetwork(ip);
    const { sinceMs, count } = this.#refusedOf(network);
    const leftMs = sinceMs + REFUSED_MS - this.#clock.monotonicMs();
    if (count >= REFUSED_MAX) throw new Fault("rate_limited", { retryAfterS: toWholeSeconds(leftMs) });
    const ofNetwork = [...this.#reading.values()].filter((each) => each === network).length;
    if (this.#reading.size >= BODIES_MAX || ofNetwork >= BODIES_OF_NETWORK_MAX)
      throw new Fault("rate_limited", { retryAfterS: 1 });
    this.#reading.set(response, network);
    const end = () => void this.#reading.delete(response);
    response.once("finish", end);
    onceClosed(response, end);
  }

  countRefused(ip: string): void {
    const network = toClientNetwork(ip);
    const { sinceMs, count } = this.#refusedOf(network);
    const [oldest] = this.#refused.size >= NETWORKS_MAX ? this.#refused.keys() : [];
    if (oldest !== undefined) this.#refused.delete(oldest);
    this.#refused.set(network, { sinceMs, count: count + 1 });
  }

  /** Counts a proven hint. Throws rate_limited. */
  countHint(chain: Caip2): void {
    const second = Math.floor(this.#clock.monotonicMs() / 1_000);
    const counted = this.#perSecond.get(chain);
    const count = counted?.second === second ? counted.count + 1 : 1;
    this.#perSecond.set(chain, { second, count });
    if (count > HINTS_PER_SECOND) throw new Fault("rate_limited", { retryAfterS: 1 });
  }

  #refusedOf(network: string): Refused {
    const nowMs = this.#clock.monotonicMs();
    const counted = this.#refused.get(network);
    if (counted !== undefined && nowMs - counted.sinceMs < REFUSED_MS) return counted;
    this.#refused.delete(network);
    return { sinceMs: nowMs, count: 0 };
  }
}
