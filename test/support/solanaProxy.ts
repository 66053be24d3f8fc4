import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

// A provider in front of a node, which changes answers. A test describes its fault as a function of one call.

export type SolanaCall = { readonly method: string; readonly params: readonly unknown[] };
type Answer = { result?: unknown; error?: { code: number; message: string } };
/** Returns the answer of the provider. `forward` asks the node, for this call or for a changed one. */
export type SolanaFault = (call: SolanaCall, forward: (call?: SolanaCall) => Promise<Answer>) => Promise<Answer>;

export type SolanaProxy = {
  readonly url: string;
  /** Undefined: every answer is the node's. */
  fault: SolanaFault | undefined;
  /** Methods in the order of the calls, those of a batch one by one. */
  readonly methods: string[];
  close(): void;
};

type Request = SolanaCall & { readonly id: unknown };

/** Starts a provider in front of a node. */
export async function startSolanaProxy(nodeUrl: string): Promise<SolanaProxy> {
  const proxy = {
    url: "",
    fault: undefined as SolanaFault | undefined,
    methods: [] as string[],
    close: () => undefined,
  };
  const forward = async ({ method, params }: SolanaCall): Promise<Answer> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(nodeUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
    const { result, error } = (await response.json()) as Answer;
    return error === undefined ? { result } : { error };
  };
  const answer = async (call: Request) => {
    proxy.methods.push(call.method);
    const ask = (changed: SolanaCall = call) => forward(changed);
    return { jsonrpc: "2.0", id: call.id, ...(await (proxy.fault ? proxy.fault(call, ask) : ask())) };
  };
  const server = createServer((request, response) => {
    void (async () => {
      const calls = JSON.parse(await text(request)) as Request | Request[];
      const answers: unknown[] = [];
      for (const call of Array.isArray(calls) ? calls : [calls]) answers.push(await answer(call));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(Array.isArray(calls) ? answers : answers[0]));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  proxy.close = () => {
    server.closeAllConnections();
    server.close();
    return undefined;
  };
  return proxy;
}

/** A fault of one method: `change` gets the node's result. */
export function changeResult(method: string, change: (result: never, call: SolanaCall) => unknown): SolanaFault {
  return async (call, forward) => {
    const answer = await forward();
    if (call.method !== method || answer.error !== undefined) return answer;
    return { result: change(answer.result as never, call) };
  };
}
