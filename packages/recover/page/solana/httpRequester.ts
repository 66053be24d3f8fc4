import type { RpcRequester } from "../../src/rpc/rpcRequester.ts";
import { createPatientRequester } from "../../src/rpc/patientRequester.ts";
import { sleep } from "../wallets.ts";

const ANSWER_MS_MAX = 60_000;
const LOCAL_HOSTS = ["localhost", "127.0.0.1"];

/** Reads an RPC URL as the page's policy permits it. Throws an Error that says what it must be. */
export function readRpcUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPermitted = url?.protocol === "https:" || (url?.protocol === "http:" && LOCAL_HOSTS.includes(url.hostname));
  if (url === undefined || !isPermitted)
    throw new Error("The RPC URL must begin with https://, or with http://localhost for a cluster on this computer.");
  return url;
}

/** Sends JSON-RPC requests from the page to one URL. `onPause`: it refuses requests for now. */
export function createHttpRequester(url: URL, onPause: (ms: number) => void): RpcRequester {
  const request: RpcRequester = async (method, params) => {
    const response = await post(url, { jsonrpc: "2.0", id: 1, method, params });
    if (!response.ok)
      throw new Error(
        `${url.host} answers ${response.status}. Some servers refuse requests of web pages: try another.`,
      );
    const { result, error } = (await response.json()) as { result?: unknown; error?: { message?: string } };
    if (error !== undefined) throw new Error(error.message ?? `${url.host} refuses ${method}.`);
    return result;
  };
  return createPatientRequester(request, { sleep, onPause });
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
