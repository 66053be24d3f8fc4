import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { CheckoutPage } from "@tributary/checkout/checkoutState";
import { PAGE_FILES, renderPage } from "../../src/http/checkout/page/renderPage.ts";
import type { SeededRandom } from "../sim/seededRandom.ts";

export type SlowLine = {
  /** The document comes in pieces that end at these shares of it, each after a wait. */
  pieces: { share: number; waitMs: number }[];
  scriptMs: number;
};

/** A line on which the document comes in up to four pieces, and the script before, between or after them. */
export function randomLine(random: SeededRandom, waitMsMax: number): SlowLine {
  const count = 1 + Math.floor(random.number() * 4);
  const shares = Array.from({ length: count - 1 }, () => random.number()).toSorted((one, other) => one - other);
  const wait = () => Math.floor(random.number() * waitMsMax);
  return { pieces: [...shares, 1].map((share) => ({ share, waitMs: wait() })), scriptMs: wait() };
}

/** Serves one sample of the page over a real connection, as slowly as `line` says at that time. */
export async function serveSlowSample(
  sample: CheckoutPage,
  lineOf: () => SlowLine,
): Promise<{ url: string; close: () => Promise<void> }> {
  const html = renderPage(sample, new Date()).html;
  const answer = async ({ url = "", method }: IncomingMessage, response: ServerResponse) => {
    const { pieces, scriptMs } = lineOf();
    const { pathname } = new URL(url, "http://sample");
    const file = PAGE_FILES.find(({ name }) => pathname.endsWith(`/${name}`));
    if (file !== undefined) {
      await sleep(scriptMs);
      return response.setHeader("content-type", file.contentType).end(file.content);
    }
    if (pathname === `/c/${sample.intentId}`) {
      response.setHeader("content-type", "text/html; charset=utf-8");
      let sent = 0;
      for (const { share, waitMs } of pieces) {
        await sleep(waitMs);
        const end = Math.floor(html.length * share);
        response.write(html.slice(sent, end));
        sent = end;
      }
      return response.end();
    }
    response.setHeader("content-type", "application/json");
    if (pathname.endsWith("/events")) return response.writeHead(429).end("{}");
    if (pathname.endsWith("/origins")) return response.end(JSON.stringify(sample.origins));
    return method === "GET" ? response.end(JSON.stringify(sample.state)) : response.writeHead(202).end("{}");
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/c/${sample.intentId}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
