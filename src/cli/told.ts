import { BaseError } from "viem";
import { CommandFailed } from "./command.ts";

/** Puts what went wrong with a chain into one sentence: `what`, and the chain's own reason. */
export async function told<T>(promise: Promise<T>, what: string): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    const reason =
      error instanceof BaseError ? error.shortMessage : error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`${what}: ${reason}`);
  }
}
