import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";

/**
 * A web site of a merchant, on an origin of its own: browsers treat localhost and the service's 127.0.0.1 as two sites.
 */
export type MerchantSite = {
  readonly origin: string;
  readonly requests: IncomingMessage[];
  /** The document that every path answers with. */
  html: string;
  close(): Promise<void>;
};

export async function openMerchantSite(html = "<!doctype html><title>A shop</title>"): Promise<MerchantSite> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.setHeader("content-type", "text/html");
    response.end(site.html);
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a listening server has a port");
  const site: MerchantSite = {
    origin: `http://localhost:${address.port}`,
    requests,
    html,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return site;
}
