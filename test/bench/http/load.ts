import { once } from "node:events";
import { connect, type Socket } from "node:net";

// A cheap load generator, because it shares its core with the database.

/** One request as HTTP text. */
export type Call = string;

export type LoadOptions = {
  port: number;
  connections: number;
  /** Returns a connection's next call; undefined at the end. */
  call: (connection: number) => Call | undefined;
};

const HEAD_END = "\r\n\r\n";

export function requestText(head: string, headers: Readonly<Record<string, string>>, body = ""): Call {
  const all = { host: "127.0.0.1", ...headers, ...(body === "" ? {} : { "content-length": String(body.length) }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${head} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

/** Sends each connection's calls one after the other; returns the number of 2xx answers and throws on any other. */
export async function load(options: LoadOptions): Promise<number> {
  const counts = Array.from({ length: options.connections }, (_, connection) => runConnection(options, connection));
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

async function runConnection({ port, call }: LoadOptions, connection: number): Promise<number> {
  let answerCount = 0;
  let text = call(connection);
  while (text !== undefined) {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    await once(socket, "connect");
    const next = (): Call | undefined => (text = call(connection));
    answerCount += await useSocket(socket, text, next);
  }
  return answerCount;
}

/** Uses a socket until the calls end or the server closes it after its maximum of requests. */
function useSocket(socket: Socket, first: Call, next: () => Call | undefined): Promise<number> {
  let answerCount = 0;
  let received = "";
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  socket.setEncoding("latin1");
  socket.on("data", (part: string) => {
    received += part;
    if (!isCompleteResponse(received)) return;
    if (!received.startsWith("HTTP/1.1 2")) {
      socket.destroy(new Error(received));
      return;
    }
    answerCount += 1;
    const isLast = /\r\nconnection: close\r\n/i.test(received);
    received = "";
    const text = next();
    if (text === undefined || isLast) socket.destroy();
    else socket.write(text, "latin1");
  });
  socket.once("error", reject).once("close", () => resolve(answerCount));
  socket.write(first, "latin1");
  return promise;
}

function isCompleteResponse(text: string): boolean {
  const headEnd = text.indexOf(HEAD_END);
  if (headEnd < 0) return false;
  const [, length = "NaN"] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
  return text.length >= headEnd + HEAD_END.length + Number(length);
}
