import { ProviderFailed } from "../reader.ts";

/**
 * After a refusal, so many uses go without before the provider is asked again: its plan, or the node behind its name,
 * may change.
 */
const SKIPPED_AFTER_REFUSAL = 100;

/** A method that some providers refuse. A refusal is remembered, so that it does not cost a request each time. */
export class Feature {
  #skipsLeft = 0;

  /**
   * Undefined where the provider refuses, now or lately. Throws every failure that is no refusal: a missing block
   * refuses nothing.
   */
  async use<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#skipsLeft > 0) {
      this.#skipsLeft -= 1;
      return undefined;
    }
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ProviderFailed && error.kind === "bad_answer")) throw error;
      this.#skipsLeft = SKIPPED_AFTER_REFUSAL;
      return undefined;
    }
  }
}
