import type { RpcRequester } from "../../src/inspectChain.ts";

const ANSWER_MS_MAX = 60_000;
/** Public servers take a few dozen requests in ten seconds. */
const TOO_MANY_REQUESTS = 429;
const RETRIES_MAX = 5;
const RETRY_MS = 1_000;
const LOCAL_HOSTS = ["localhost", "127.0.0.1"];

/** Reads an RPC URL as the page's policy permits it. Throws an Error that says what it must be. */
export function readRpcUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPermitted = url?.protocol === "https:" || (url?.protocol === "http:" && LOCAL_HOSTS.includes(url.hostname));
  if (url === undefined || !isPermitted)
    throw new Error("The RPC URL must begin with https://, or with http://localhost for a cluster on this computer.");
  return url;
}

/** Sends JSON-RPC requests from the page to one URL. */
export function createHttpRequester(url: URL): RpcRequester {
  return async (method, params) => {
    const response = await postPatiently(url, { jsonrpc: "2.0", id: 1, method, params });
    if (!response.ok)
      throw new Error(
        `${url.host} answers ${response.status}. Some servers refuse requests of web pages: try another.`,
      );
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message?: string } };
    if (error !== undefined) throw new Error(error.message ?? `${url.host} refuses ${method}.`);
    return result;
  };
}

/** Repeats a request that the server refuses as one too many, with a longer pause each time. */
async function postPatiently(url: URL, body: object): Promise<Response> {
  for (let retry = 1; retry <= RETRIES_MAX; retry += 1) {
    const response = await post(url, body);
    if (response.status !== TOO_MANY_REQUESTS) return response;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS * retry));
  }
  return post(url, body);
}

async function post(url: URL, body: object): Promise<Response> {
  try {
    return await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      credentials: "omit",
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
  } catch {
    throw new Error(`${url.host} does not answer, or refuses requests of web pages. Try another RPC URL.`);
  }
}
