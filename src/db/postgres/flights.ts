import type { StatementResult } from "../driver.ts";
import type { Outcome, Parameters } from "./namedStatement.ts";

// Executions of one statement that are asked for in one turn of the event loop, and go to the server and back in one piece: sending and
// receiving cost both sides more than the statement does. Nobody waits for a fuller flight, and none waits for another.

/** Runs a statement with each of the parameters, and tells what became of the first ones, at least of one. */
export type Fly = (text: string, executions: readonly Parameters[]) => Promise<readonly Outcome[]>;

type Passenger = {
  readonly parameters: Parameters;
  resolve(answer: StatementResult): void;
  reject(reason: unknown): void;
};

/** More than that go in several flights, which the server may work on at the same time. */
const PASSENGERS_MAX = 32;

/** Where executions wait for the end of the turn. Each is answered by itself, whatever becomes of the others of its flight. */
export class Flights {
  readonly #fly: Fly;
  #waiting = new Map<string, Passenger[]>();

  constructor(fly: Fly) {
    this.#fly = fly;
  }

  ask(text: string, parameters: Parameters): Promise<StatementResult> {
    const { promise, resolve, reject } = Promise.withResolvers<StatementResult>();
    if (this.#waiting.size === 0) setImmediate(() => this.#depart());
    const passengers = this.#waiting.get(text) ?? [];
    if (passengers.length === 0) this.#waiting.set(text, passengers);
    passengers.push({ parameters, resolve, reject });
    return promise;
  }

  #depart(): void {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const [text, passengers] of waiting)
      for (let from = 0; from < passengers.length; from += PASSENGERS_MAX)
        void this.#carry(text, passengers.slice(from, from + PASSENGERS_MAX));
  }

  /** Those behind one that failed were not tried, and fly again: each flight has fewer. Never rejects. */
  async #carry(text: string, passengers: readonly Passenger[]): Promise<void> {
    let left = passengers;
    while (left.length > 0) {
      const outcomes = await this.#attempt(text, left);
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === "fulfilled") left[index]?.resolve(outcome.value);
        else left[index]?.reject(outcome.reason);
      }
      left = left.slice(outcomes.length);
    }
  }

  async #attempt(text: string, passengers: readonly Passenger[]): Promise<readonly Outcome[]> {
    try {
      return await this.#fly(
        text,
        passengers.map(({ parameters }) => parameters),
      );
    } catch (reason) {
      return passengers.map(() => ({ status: "rejected", reason }));
    }
  }
}
