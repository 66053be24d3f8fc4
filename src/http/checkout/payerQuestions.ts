import type { ChainReader } from "../../chain/reader.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { World } from "../../world.ts";

// What payers' wallets ask a chain for. They have no session, so anybody asks as often as he likes. Deposits and
// settlements use up the same plan of a provider: whatever the number of wallets, a process asks for them a few times a
// second.

/** A transaction may name a block of the last minute. */
const HEAD_MS = 2_000;
const LOOKS_PER_SECOND = 5;

type Reader = Pick<ChainReader, "head" | "holdings">;
type Asked = { head: ReturnType<Reader["head"]>; headAtMs: number; looks: number; looksFromMs: number };

export class PayerQuestions {
  readonly #clock: World["clock"];
  readonly #asked = new Map<Caip2, Asked>();

  constructor({ clock }: Pick<World, "clock">) {
    this.#clock = clock;
  }

  /** The newest block of a chain, or the one of the last two seconds. What failed is not asked again for as long. */
  head(chain: Caip2, reader: Reader): ReturnType<Reader["head"]> {
    const nowMs = this.#clock.monotonicMs();
    const asked = this.#asked.get(chain);
    if (asked !== undefined && nowMs - asked.headAtMs < HEAD_MS) return asked.head;
    const head = reader.head("latest");
    this.#asked.set(chain, { looks: 0, looksFromMs: nowMs, ...asked, head, headAtMs: nowMs });
    return head;
  }

  /** Whether a wallet's balance may be looked at now. Otherwise the wallet finds out itself what it holds. */
  mayLook(chain: Caip2): boolean {
    const asked = this.#asked.get(chain);
    if (asked === undefined) return false;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - asked.looksFromMs >= 1_000) Object.assign(asked, { looks: 0, looksFromMs: nowMs });
    asked.looks += 1;
    return asked.looks <= LOOKS_PER_SECOND;
  }
}
