import { createClient, type Tributary } from "@tributary/client";
import { TributaryError } from "@tributary/client/errors";
import { CommandFailed } from "./command.ts";

/** The API as a merchant's program uses it. */
export function openApi({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): Tributary {
  return createClient({ baseUrl, apiKey });
}

/** What a call resolves to. Throws CommandFailed with a sentence for people where the service refused it or does not answer. */
export async function answerTo<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof TributaryError)) throw error;
    const named = error.requestId === undefined ? "" : ` (${error.requestId})`;
    const said = error.status === 0 ? error.message : `The service answered ${error.code}: ${error.message}${named}`;
    throw new CommandFailed(said, { cause: error });
  }
}
