import { ProviderFailed } from "../reader.ts";
import { isRefusal } from "./rpcError.ts";

/**
 * After a refusal, so many uses go without before the provider is asked again: its plan, or the node behind its name,
 * may change.
 */
const SKIPPED_AFTER_REFUSAL = 100;

/** A method that some providers refuse. A refusal is remembered, so that it does not cost a request each time. */
export class Feature {
  #skipsLeft = 0;

  /**
   * Undefined where the provider refuses, now or lately, and where its answer is wrong this time. Throws every other
   * failure: a missing block refuses nothing.
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
      if (isRefusal(error)) this.#skipsLeft = SKIPPED_AFTER_REFUSAL;
      return undefined;
    }
  }
}

/** Undefined where the provider refuses the call. */
export async function unlessRefused<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}
