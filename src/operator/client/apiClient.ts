import { createClient, type TributaryClient } from "@tributary/client";
import { TributaryError } from "@tributary/client/errors";
import { CommandError } from "../errors.ts";

/** Creates the same API client that merchants use. */
export function createApiClient({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): TributaryClient {
  return createClient({ baseUrl, apiKey });
}

/** Resolves with the result of `call`. Throws CommandError when the service rejects the call or does not answer. */
export async function withApiError<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof TributaryError)) throw error;
    const requestIdNote = error.requestId === undefined ? "" : ` (${error.requestId})`;
    const message =
      error.status === 0 ? error.message : `The service returned ${error.code}: ${error.message}${requestIdNote}`;
    throw new CommandError(message, { cause: error });
  }
}
