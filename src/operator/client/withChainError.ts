import { findHubRefusal } from "@tributary/recover/hubRefusals";
import { toPrintable } from "@tributary/recover/printable";
import { BaseError } from "viem";
import { CommandError } from "../errors.ts";

/**
 * Resolves with the result of `promise`. Throws CommandError with `context` and the chain's reason when it fails,
 * without control characters.
 */
export async function withChainError<T>(promise: Promise<T>, context: string): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    const reason =
      error instanceof BaseError ? error.shortMessage : error instanceof Error ? error.message : String(error);
    throw new CommandError(toPrintable(`${context}: ${findHubRefusal(error) ?? reason}`));
  }
}
