import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { linkSockets } from "./tcpProxy.ts";

/** A proxy before a server that drops, repeats or adds frames on request. */
export type WebSocketProxy = {
  /** The ws:// URL. */
  url: string;
  /** The number of connections so far. */
  connections: () => number;
  /**
   * Drops everything that the server sends, also on new connections, until `forwardAllFrames`. Connections stay open.
   */
  dropAllFrames(): void;
  /** Drops subscription messages only; replies pass. */
  dropHeads(): void;
  /** Repeats the last head instead of each new one; replies pass. */
  repeatPreviousHead(): void;
  forwardAllFrames(): void;
  /** Sends this message first on each new connection; undefined disables it. */
  setGreeting(message: unknown): void;
  /** Closes all connections and accepts new ones. */
  closeConnections(): void;
  /** Closes all connections and refuses new ones until `acceptConnections`. */
  refuseConnections(): void;
  acceptConnections(): void;
  close(): Promise<void>;
};

export async function openWebSocketProxy(target: string): Promise<WebSocketProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let dropMode: "nothing" | "heads" | "newHeads" | "everything" = "nothing";
  let lastHead: Buffer = Buffer.alloc(0);
  /** Returns the frame to forward, or undefined. A server's frames are not masked, so the proxy can read their text. */
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
  if (address === null || typeof address === "string") throw new Error("the server has no port");
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

/** Encodes a server's text frame of 126 bytes or more. */
function encodeFrame(message: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.from([0x81, 126, 0, 0]);
  head.writeUInt16BE(text.length, 2);
  return Buffer.concat([head, text]);
}

/** Splits a chunk into frames by their length prefix. Returns the handshake's response unchanged. */
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
