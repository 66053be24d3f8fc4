import { once } from "node:events";
import { connect, type Socket } from "node:net";

// A load of requests that costs little itself: it shares its core with the database, and whatever it takes there the database lacks.

/** One whole request as it goes over the wire. */
export type Call = string;

export type LoadOptions = {
  port: number;
  connections: number;
  /** The next call of a connection; undefined when it has none any more. */
  call: (connection: number) => Call | undefined;
};

const HEAD_END = "\r\n\r\n";

export function requestText(head: string, headers: Readonly<Record<string, string>>, body = ""): Call {
  const all = { host: "127.0.0.1", ...headers, ...(body === "" ? {} : { "content-length": String(body.length) }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${head} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

/** How many calls were answered with 2xx, each connection sending the next when the last is answered. Throws at the first other. */
export async function load(options: LoadOptions): Promise<number> {
  const counts = Array.from({ length: options.connections }, (_, connection) => runConnection(options, connection));
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

async function runConnection({ port, call }: LoadOptions, connection: number): Promise<number> {
  let answered = 0;
  let text = call(connection);
  while (text !== undefined) {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    await once(socket, "connect");
    const next = (): Call | undefined => (text = call(connection));
    answered += await useSocket(socket, text, next);
  }
  return answered;
}

/** Until there is nothing to send, or the server asks to go: it lets each connection have so many requests. */
function useSocket(socket: Socket, first: Call, next: () => Call | undefined): Promise<number> {
  let answered = 0;
  let heard = "";
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  socket.setEncoding("latin1");
  socket.on("data", (part: string) => {
    heard += part;
    if (!isCompleteResponse(heard)) return;
    if (!heard.startsWith("HTTP/1.1 2")) {
      socket.destroy(new Error(heard));
      return;
    }
    answered += 1;
    const isLast = /\r\nconnection: close\r\n/i.test(heard);
    heard = "";
    const text = next();
    if (text === undefined || isLast) socket.destroy();
    else socket.write(text, "latin1");
  });
  socket.once("error", reject).once("close", () => resolve(answered));
  socket.write(first, "latin1");
  return promise;
}

function isCompleteResponse(text: string): boolean {
  const headEnd = text.indexOf(HEAD_END);
  if (headEnd < 0) return false;
  const [, length = "NaN"] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
  return text.length >= headEnd + HEAD_END.length + Number(length);
}
