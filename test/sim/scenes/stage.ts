import type { Actors } from "../actors.ts";
import { tokenCalls } from "../chain/token.ts";
import type { FaultInjector } from "../faultInjector.ts";
import type { SeededRandom } from "../seededRandom.ts";
import { payerAddress, type SimChain, type SimWorld, type TrackedIntent } from "../simWorld.ts";

const POLL_MS = 200;
const INTENT_PATIENCE_MS = 60_000;

type StageParts = { simWorld: SimWorld; actors: Actors; injector: FaultInjector; random: SeededRandom };

/** What the actors of a scene can see and do. */
export class Stage {
  readonly simWorld: SimWorld;
  readonly actors: Actors;
  readonly injector: FaultInjector;
  readonly random: SeededRandom;

  constructor({ simWorld, actors, injector, random }: StageParts) {
    this.simWorld = simWorld;
    this.actors = actors;
    this.injector = injector;
    this.random = random;
  }

  get nowMs(): number {
    return this.simWorld.parts.scheduler.nowMs;
  }

  /** When the faults end. */
  get chaosMs(): number {
    return this.simWorld.parts.plan.chaosMs;
  }

  sleep(durationMs: number): Promise<void> {
    return new Promise((resolve) => this.simWorld.parts.scheduler.after(Math.max(0, durationMs), resolve));
  }

  sleepUntil(atMs: number): Promise<void> {
    return this.sleep(atMs - this.nowMs);
  }

  /** Looks again and again. Undefined when the patience ends first. */
  async until<T>(find: () => T | undefined, patienceMs: number): Promise<T | undefined> {
    const endMs = this.nowMs + patienceMs;
    while (this.nowMs < endMs) {
      // A statement would run inside the open transaction of a process.
      const found = this.simWorld.parts.database.isLocked ? undefined : find();
      if (found !== undefined) return found;
      await this.sleep(POLL_MS);
    }
    return undefined;
  }

  async untilTrue(isSo: () => boolean, patienceMs: number): Promise<boolean> {
    return (await this.until(() => (isSo() ? true : undefined), patienceMs)) ?? false;
  }

  /** An intent of the scene, once its merchant has it. */
  intent(index: number): Promise<TrackedIntent | undefined> {
    return this.until(() => this.findIntent(index), INTENT_PATIENCE_MS);
  }

  findIntent(index: number): TrackedIntent | undefined {
    return [...this.actors.intents.values()].find(({ plan }) => plan.name === sceneIntent(index));
  }

  rows(text: string): Record<string, unknown>[] {
    return this.simWorld.parts.database.rows(text);
  }

  /** The deposits of an intent in a state. */
  countDeposits({ row }: TrackedIntent, status: string): number {
    return this.rows(`select id from deposit where intent_id = '${row.id}' and status = '${status}'`).length;
  }

  /** How many burns of an intent's inbox are known. */
  crossingsOf({ row }: TrackedIntent): { chain_tx: string; status: string }[] {
    const text = `select chain_tx, status from crossing where intent_id = '${row.id}' order by movement_id`;
    return this.rows(text) as { chain_tx: string; status: string }[];
  }

  otherChain({ chain }: TrackedIntent): SimChain {
    const other = this.simWorld.chains.find((one) => one !== chain);
    if (other === undefined) throw new Error("the scene has one chain");
    return other;
  }

  /** Pays in the payout's token. Returns the transaction. */
  pay(known: TrackedIntent, units: bigint): string {
    return this.#pay(known.chain, { token: known.row.payout_token, to: known.row.inbox_address, units });
  }

  /** Pays in the token that a bridge carries, on the other chain. Returns the transaction. */
  payAcross(known: TrackedIntent, units: bigint): string {
    const origin = this.otherChain(known);
    const token = origin.chain.bridge?.token ?? known.row.payout_token;
    return this.#pay(origin, { token, to: known.row.inbox_address, units });
  }

  violate(rule: string, subject: string): void {
    this.simWorld.parts.violate(rule, subject);
  }

  trace(what: string): void {
    this.simWorld.parts.trace.append("scene", what);
  }

  #pay({ chain, plan }: SimChain, { token, to, units }: { token: string; to: string; units: bigint }): string {
    this.trace(`pays ${units} to ${to.slice(0, 8)} on ${plan.name}`);
    const from = payerAddress(this.random.between(0, 11));
    return chain.send({ from, calls: [{ to: token, data: tokenCalls.transfer(to, units) }] });
  }
}

/** The name of an intent of the scene. */
export function sceneIntent(index: number): string {
  return `scene-${index}`;
}
