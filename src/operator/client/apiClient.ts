import { createClient, type TributaryClient } from "@tributary/client";
import { TributaryError } from "@tributary/client/errors";
import { CommandError } from "../errors.ts";

/** The API as a merchant's program uses it. */
export function createApiClient({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): TributaryClient {
  return createClient({ baseUrl, apiKey });
}

/** What a call resolves to. Throws CommandError with a sentence for people where the service refused it or does not answer. */
export async function withApiError<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof TributaryError)) throw error;
    const requestIdNote = error.requestId === undefined ? "" : ` (${error.requestId})`;
    const message =
      error.status === 0 ? error.message : `The service answered ${error.code}: ${error.message}${requestIdNote}`;
    throw new CommandError(message, { cause: error });
  }
}
