import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { linkSockets } from "./tcpProxy.ts";

/** A way to a server on which a test decides what still comes through. */
export type WebSocketProxy = {
  /** ws:// */
  url: string;
  /** Connections that were made so far. */
  connections: () => number;
  /** What the server sends is swallowed from now on, while everything stays connected; also for new connections, until `speak`. */
  dropAllFrames(): void;
  /** Only what was subscribed to is swallowed: questions are answered. */
  dropHeads(): void;
  /** Instead of each head the one before it is told, over and over: questions are answered. */
  repeatPreviousHead(): void;
  forwardAllFrames(): void;
  /** Who connects from now on is told this first, before anything was asked; undefined ends it. */
  setGreeting(message: unknown): void;
  /** Throws out whoever is connected; new ones are let in. */
  closeConnections(): void;
  /** Throws out whoever is connected, and whoever knocks until `open`. */
  refuseConnections(): void;
  acceptConnections(): void;
  close(): Promise<void>;
};

export async function openWebSocketProxy(target: string): Promise<WebSocketProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let dropMode: "nothing" | "heads" | "newHeads" | "everything" = "nothing";
  let lastHead: Buffer = Buffer.alloc(0);
  /** What comes through instead. A server's frames are not masked, so that their text can be read. */
  const filterFrame = (data: Buffer): Buffer | undefined => {
    if (dropMode === "everything") return undefined;
    if (!data.includes("eth_subscription")) return data;
    if (dropMode === "newHeads") return lastHead;
    lastHead = data;
    return dropMode === "heads" ? undefined : data;
  };
  let connections = 0;
  let refusesConnections = false;
  let greeting: unknown;
  const server = createServer((socket) => {
    if (refusesConnections) {
      socket.destroy();
      return;
    }
    connections += 1;
    const upstream = connect(Number(port), hostname);
    linkSockets([socket, upstream], sockets);
    socket.pipe(upstream);
    if (greeting !== undefined) upstream.once("data", () => queueMicrotask(() => socket.write(encodeFrame(greeting))));
    upstream.on("data", (data) => {
      for (const frame of splitFrames(data)) {
        const through = filterFrame(frame);
        if (through !== undefined) socket.write(through);
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a listening server has a port");
  const closeConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `ws://127.0.0.1:${address.port}`,
    connections: () => connections,
    dropAllFrames: () => (dropMode = "everything"),
    dropHeads: () => (dropMode = "heads"),
    repeatPreviousHead: () => (dropMode = "newHeads"),
    forwardAllFrames: () => (dropMode = "nothing"),
    setGreeting: (message) => (greeting = message),
    closeConnections,
    refuseConnections: () => {
      refusesConnections = true;
      closeConnections();
    },
    acceptConnections: () => (refusesConnections = false),
    async close() {
      server.close();
      closeConnections();
      await once(server, "close");
    },
  };
}

/** A text as a server sends it, of 126 bytes or more. */
function encodeFrame(message: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.from([0x81, 126, 0, 0]);
  head.writeUInt16BE(text.length, 2);
  return Buffer.concat([head, text]);
}

/** What a server sends at once can be several texts; each begins with its length. The answer to the handshake is none. */
function splitFrames(data: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < data.length;) {
    const short = (data[at + 1] ?? 0) & 0x7f;
    const length = data[at] === 0x81 ? (short === 126 ? 4 + data.readUInt16BE(at + 2) : 2 + short) : data.length;
    frames.push(data.subarray(at, at + length));
    at += length;
  }
  return frames;
}
