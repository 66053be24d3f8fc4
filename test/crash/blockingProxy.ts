import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** A provider that does not answer a method before it is told to. */
export type BlockingProxy = {
  url: string;
  /** Resolves when the method is asked for the first time. */
  blocked: Promise<void>;
  release(): void;
  close(): Promise<void>;
};

export async function openBlockingProxy(target: string, method: string): Promise<BlockingProxy> {
  const held = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = Buffer.concat(await request.toArray()).toString();
    if (body.includes(`"${method}"`)) {
      held.resolve();
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
  if (address === null || typeof address === "string") throw new Error("a listening server has a port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    blocked: held.promise,
    release: () => released.resolve(),
    close: async () => {
      released.resolve();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
