import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** A proxy before a provider that holds one method's reply until `release`. */
export type BlockingProxy = {
  url: string;
  /** Resolves at the first call of the method. */
  blocked: Promise<void>;
  release(): void;
  close(): Promise<void>;
};

export async function openBlockingProxy(target: string, method: string): Promise<BlockingProxy> {
  const blocked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray()).toString();
    if (body.includes(`"${method}"`)) {
      blocked.resolve();
      await released.promise;
    }
    const headers = { "content-type": "application/json" };
    const answered = await fetch(target, { method: "POST", headers, body });
    response.writeHead(answered.status, headers).end(await answered.text());
  };
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    blocked: blocked.promise,
    release: () => released.resolve(),
    close: async () => {
      released.resolve();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
