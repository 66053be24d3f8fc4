import { once } from "node:events";
import { connect, type Socket } from "node:net";

// A load of requests that costs little itself: it shares its core with the database, and whatever it takes there the database lacks.

/** One whole request as it goes over the wire. */
export type Call = string;

export type LoadOptions = {
  port: number;
  connections: number;
  durationMs: number;
  /** The next call of a connection. */
  call: (connection: number) => Call;
};

const HEAD_END = "\r\n\r\n";

export function requestText(head: string, headers: Readonly<Record<string, string>>, body = ""): Call {
  const all = { host: "127.0.0.1", ...headers, ...(body === "" ? {} : { "content-length": String(body.length) }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${head} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

/** How many calls were answered with 2xx, each connection sending the next when the last is answered. Throws at the first other. */
export async function load(options: LoadOptions): Promise<number> {
  const untilMs = performance.now() + options.durationMs;
  const counts = Array.from({ length: options.connections }, (_, connection) => converse(options, connection, untilMs));
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

async function converse({ port, call }: LoadOptions, connection: number, untilMs: number): Promise<number> {
  let answered = 0;
  while (performance.now() < untilMs) {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    await once(socket, "connect");
    answered += await useSocket(socket, () => (performance.now() < untilMs ? call(connection) : undefined));
  }
  return answered;
}

/** Until there is nothing to send, or the server asks to go: it lets each connection have so many requests. */
function useSocket(socket: Socket, next: () => Call | undefined): Promise<number> {
  let answered = 0;
  let heard = "";
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const send = () => {
    const text = next();
    if (text === undefined) socket.destroy();
    else socket.write(text, "latin1");
  };
  socket.setEncoding("latin1");
  socket.on("data", (text: string) => {
    heard += text;
    if (!isWhole(heard)) return;
    if (heard.startsWith("HTTP/1.1 2")) {
      answered += 1;
      heard = "";
      send();
    } else socket.destroy(new Error(heard));
  });
  socket.once("error", reject).once("close", () => resolve(answered));
  send();
  return promise;
}

function isWhole(text: string): boolean {
  const headEnd = text.indexOf(HEAD_END);
  if (headEnd < 0) return false;
  const [, length = "NaN"] = /\r\ncontent-length: (\d+)/i.exec(text) ?? [];
  return text.length >= headEnd + HEAD_END.length + Number(length);
}
