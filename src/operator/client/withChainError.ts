import { BaseError } from "viem";
import { CommandError } from "../errors.ts";

/** Puts what went wrong with a chain into one sentence: `what`, and the chain's own reason. */
export async function withChainError<T>(promise: Promise<T>, context: string): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    const reason =
      error instanceof BaseError ? error.shortMessage : error instanceof Error ? error.message : String(error);
    throw new CommandError(`${context}: ${reason}`);
  }
}
