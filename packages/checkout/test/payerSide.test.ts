import assert from "node:assert/strict";
import { test } from "node:test";
import { SeededRandom } from "../../../test/sim/seededRandom.ts";
import type { CheckoutDeposit, CheckoutState } from "../src/checkoutState.ts";
import { en } from "../src/messages/en.ts";
import { canDeny, DENIABLE_MS, IDLE, isOpen, nextSide, type PayerEvent, type PayerSide } from "../src/payerSide.ts";
import { emptySituation } from "../src/situation.ts";
import { createTranslator } from "../src/translator.ts";
import { renderPage } from "../src/views/page.ts";
import { toHtml } from "../src/vnode.ts";
import { SAMPLES } from "./samples.ts";

const t = createTranslator("en", en);
const SEEDS = 120;
const STEPS = 60;
const START = Date.parse("2026-11-22T14:32:00.000Z");
const WALLET = { id: "w", namespace: "eip155", name: "Odd", icon: null } as const;
/** Sentences that say that the payer's money did not move. */
const NOTHING_MOVED = /Nothing was paid|was asked for nothing|nothing arrived/;

/** What really happened to one request that a wallet got. */
type Truth = {
  attempt: number;
  hash: string;
  amount: string;
  /** shown: in the wallet, undecided. refused, reverted: nothing moved. broadcast: under way. mined: a deposit. */
  fate: "shown" | "refused" | "broadcast" | "reverted" | "mined";
  hasAnswered: boolean;
};

const pick = <T>(random: SeededRandom, choices: readonly T[]): T => {
  return choices[Math.floor(random.number() * choices.length)] as T;
};

/** One payer, with a wallet that does what it likes, on a line that drops what it likes. */
class Walk {
  side: PayerSide = IDLE;
  now = START;
  state: CheckoutState;
  readonly chain: CheckoutDeposit[] = [];
  readonly truths: Truth[] = [];
  readonly log: string[] = [];
  stored: string | null = null;
  attempts = 0;
  readonly random: SeededRandom;

  constructor(seed: number) {
    this.random = new SeededRandom(`payer/${seed}`);
    const state = SAMPLES.get("ready")?.state;
    assert.ok(state);
    this.state = state;
  }

  apply(event: PayerEvent): void {
    this.log.push(JSON.stringify(event, (key, value: unknown) => (key === "state" ? "…" : value)));
    this.side = nextSide(this.side, event);
    this.stored = isOpen(this.side) ? JSON.stringify(this.side.request) : null;
  }

  /** Requests of which a transfer may still come, or is on the chain and not shown yet. */
  get underWay(): Truth[] {
    const shown = new Set(this.state.deposits.map(({ transfer }) => transfer));
    return this.truths.filter(
      ({ fate, hash }) => fate === "shown" || fate === "broadcast" || (fate === "mined" && !shown.has(hash)),
    );
  }

  step(): void {
    const { random } = this;
    const last = this.truths.at(-1);
    switch (
      pick(random, [
        "press",
        "press",
        "hand",
        "answer",
        "answer",
        "chain",
        "deliver",
        "follow",
        "reload",
        "time",
        "deny",
        "late",
      ])
    ) {
      case "press":
        return this.press();
      case "hand":
        return this.hand();
      case "answer":
        return last === undefined ? undefined : this.answer(last);
      case "late": {
        // An answer of an earlier attempt, or a second one.
        const old = this.truths.length === 0 ? undefined : pick(random, this.truths);
        return old === undefined ? undefined : this.answer(old);
      }
      case "chain":
        return this.moveChain();
      case "deliver":
        this.state = this.newState();
        return this.apply({ type: "arrived", state: this.state });
      case "follow":
        return last === undefined ? undefined : this.follow(last);
      case "reload":
        return this.reload();
      case "time":
        this.now += pick(random, [1_000, 50_000, 200_000, 700_000]);
        return;
      case "deny":
        // The payer looks into the wallet: nothing is there, and nothing was sent.
        if (this.underWay.length === 0) this.apply({ type: "denied", now: this.now });
    }
  }

  press(): void {
    const amount = this.state.remaining ?? "0";
    if (amount === "0") return;
    const before = this.side;
    const request = {
      attempt: ++this.attempts,
      wallet: WALLET.name,
      originId: "o",
      networkName: "Base",
      amount,
      call: null,
      askedAt: this.now,
      known: this.state.deposits.map(({ depositId }) => depositId),
    };
    this.apply({ type: "pressed", request });
    if (isOpen(before)) assert.equal(this.side, before, "an open request stays");
    else if (this.random.number() < 0.2)
      this.apply({
        type: "failed",
        attempt: this.attempts,
        reason: pick(this.random, [4001, -32_002, "poor", "network", undefined]),
      });
  }

  hand(): void {
    const { request } = this.side;
    // An attempt whose amount is not what is missing any more is given up before the wallet gets it.
    if (request?.step !== "preparing") return;
    if (request.amount !== this.state.remaining) {
      this.side = { request: null, note: null };
      return;
    }
    assert.deepEqual(this.underWay, [], `asked twice: ${this.log.join("\n")}`);
    this.truths.push({
      attempt: request.attempt,
      hash: `0x${request.attempt}`,
      amount: request.amount,
      fate: "shown",
      hasAnswered: false,
    });
    this.apply({ type: "handed", attempt: request.attempt });
  }

  answer(truth: Truth): void {
    const { random } = this;
    const { attempt } = truth;
    if (truth.fate === "shown") {
      const decision = random.number();
      if (decision < 0.25) {
        truth.fate = "refused";
        if (random.number() < 0.8) this.apply({ type: "failed", attempt, reason: 4001 });
        return;
      }
      if (decision < 0.35) return this.apply({ type: "failed", attempt, reason: -32_002 });
      if (decision < 0.45)
        return this.apply({ type: "failed", attempt, reason: pick(random, [-32_603, undefined, "x"]) });
      truth.fate = "broadcast";
    }
    if (truth.fate === "refused") return;
    const reply = random.number();
    if (reply < 0.5) this.apply({ type: "answered", attempt, hash: truth.hash });
    else if (reply < 0.6)
      this.apply({ type: "answered", attempt, hash: pick(random, ["0xlie", "", 7, null, "x".repeat(1_000)]) });
    else if (reply < 0.8) this.apply({ type: "failed", attempt, reason: pick(random, [-32_603, undefined, -32_002]) });
  }

  moveChain(): void {
    const moving = this.truths.filter(({ fate }) => fate === "broadcast");
    const [truth] = moving;
    if (truth === undefined) return;
    if (this.random.number() < 0.3) {
      truth.fate = "reverted";
      return;
    }
    truth.fate = "mined";
    const [sample] = SAMPLES.get("paid")?.state?.deposits ?? [];
    assert.ok(sample);
    // A wallet may have sped it up: then it has another hash.
    const transfer = this.random.number() < 0.2 ? `${truth.hash}r` : truth.hash;
    truth.hash = transfer;
    this.chain.unshift({
      ...sample,
      depositId: `dep_${this.chain.length}`,
      transfer,
      amount: truth.amount,
      status: "seen",
    });
  }

  follow(truth: Truth): void {
    const { request } = this.side;
    if (request?.attempt !== truth.attempt || request.hash !== truth.hash) return;
    const found = (
      { mined: "mined", reverted: "reverted", broadcast: "pending", shown: undefined, refused: undefined } as const
    )[truth.fate];
    const other = this.random.number() < 0.2 ? pick(this.random, ["lost", "elsewhere"] as const) : undefined;
    if (found === "reverted") this.apply({ type: "followed", attempt: truth.attempt, found });
    else if (found !== undefined) this.apply({ type: "followed", attempt: truth.attempt, found: other ?? found });
  }

  reload(): void {
    const { stored } = this;
    this.side = IDLE;
    if (stored !== null) this.apply({ type: "restored", request: JSON.parse(stored) });
  }

  newState(): CheckoutState {
    const arrived = this.chain.reduce((sum, { amount }) => sum + Number(amount), 0);
    const remaining = Math.max(0, 25 - arrived);
    const stage = remaining === 0 ? "seen" : arrived > 0 ? "underpaid" : "waiting";
    return {
      ...this.state,
      stage,
      deposits: [...this.chain],
      remaining: String(remaining),
      remainingUnits: String(remaining * 1e6),
      arrived: String(arrived),
    };
  }

  check(): void {
    const say = this.log.join("\n");
    const open = this.truths.filter(({ fate }) => fate === "shown" || fate === "broadcast");
    assert.ok(open.length <= 1, `two open requests:\n${say}`);
    const situation = {
      ...emptySituation("pi_sample"),
      phase: "open",
      state: this.state,
      origins: SAMPLES.get("ready")?.origins ?? null,
      check: { outcome: "ok" },
      isLive: true,
      wallets: [WALLET],
      payer: this.side,
    } as const;
    const now = new Date(this.now).toISOString();
    const { body, screen } = renderPage(situation, { t, now, times: { locale: "en", timeZone: "UTC" } });
    const html = body.map(toHtml).join("");
    const note = /id="wallet-note">(.*?)<\/p>/.exec(html)?.[1]?.replaceAll(/<[^>]*>/g, "") ?? "";
    if (this.underWay.length > 0) assert.doesNotMatch(note, NOTHING_MOVED, say);
    if (screen !== "ready" && screen !== "underpaid") return;
    const isDead = /data-do="wallet"[^>]*aria-disabled/.test(html);
    assert.equal(isDead, isOpen(this.side), "the button lives exactly while no request is open");
    assert.match(html, /data-content="0x/, "the address is always a way on");
    if (isDead) {
      assert.notEqual(note, "", "who cannot press is told why");
      const later = (this.side.request?.askedAt ?? 0) + DENIABLE_MS;
      assert.ok(canDeny(this.side, later));
      assert.equal(html.includes('data-do="deny"'), this.now >= later);
    }
    if (this.underWay.length > 0) assert.ok(isOpen(this.side), `a request is forgotten:\n${say}`);
  }
}

test("random walks: one request at a time, no false word about money, and always a way on", () => {
  const shown = new Set<string>();
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const walk = new Walk(seed);
    for (let step = 0; step < STEPS; step += 1) {
      walk.step();
      walk.check();
      shown.add(walk.side.request?.step ?? walk.side.note?.note ?? "idle");
    }
  }
  assert.equal(shown.size, 15, `every state is reached: ${[...shown].join()}`);
});

test("a request that was open when the page closed is open again, and its wallet's answer is unknown", () => {
  const walk = new Walk(0);
  walk.press();
  walk.side = nextSide(walk.side, { type: "handed", attempt: walk.attempts });
  const { request } = walk.side;
  assert.ok(request);
  const restored = nextSide(IDLE, { type: "restored", request });
  assert.equal(restored.request?.step, "unknown");
  assert.deepEqual(nextSide(restored, { type: "denied", now: START + DENIABLE_MS - 1 }), restored);
  assert.deepEqual(nextSide(restored, { type: "denied", now: START + DENIABLE_MS }), IDLE);
});
