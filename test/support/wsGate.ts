import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { endTogether } from "./gate.ts";

/** A way to a server on which a test decides what still comes through. */
export type WsGate = {
  /** ws:// */
  url: string;
  /** Connections that were made so far. */
  connections: () => number;
  /** What the server sends is swallowed from now on, while everything stays connected; also for new connections, until `speak`. */
  silence(): void;
  /** Only what was subscribed to is swallowed: questions are answered. */
  deafen(): void;
  /** Instead of each head the one before it is told, over and over: questions are answered. */
  repeat(): void;
  speak(): void;
  /** Who connects from now on is told this first, before anything was asked; undefined ends it. */
  greetWith(message: unknown): void;
  /** Throws out whoever is connected; new ones are let in. */
  cut(): void;
  /** Throws out whoever is connected, and whoever knocks until `open`. */
  shut(): void;
  open(): void;
  close(): Promise<void>;
};

export async function openWsGate(target: string): Promise<WsGate> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let swallowed: "nothing" | "heads" | "newHeads" | "everything" = "nothing";
  let lastHead: Buffer = Buffer.alloc(0);
  /** What comes through instead. A server's frames are not masked, so that their text can be read. */
  const passed = (data: Buffer): Buffer | undefined => {
    if (swallowed === "everything") return undefined;
    if (!data.includes("eth_subscription")) return data;
    if (swallowed === "newHeads") return lastHead;
    lastHead = data;
    return swallowed === "heads" ? undefined : data;
  };
  let connections = 0;
  let isShut = false;
  let greeting: unknown;
  const server = createServer((socket) => {
    if (isShut) {
      socket.destroy();
      return;
    }
    connections += 1;
    const onward = connect(Number(port), hostname);
    endTogether([socket, onward], sockets);
    socket.pipe(onward);
    if (greeting !== undefined) onward.once("data", () => queueMicrotask(() => socket.write(frameOf(greeting))));
    onward.on("data", (data) => {
      for (const frame of framesIn(data)) {
        const through = passed(frame);
        if (through !== undefined) socket.write(through);
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a listening server has a port");
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `ws://127.0.0.1:${address.port}`,
    connections: () => connections,
    silence: () => (swallowed = "everything"),
    deafen: () => (swallowed = "heads"),
    repeat: () => (swallowed = "newHeads"),
    speak: () => (swallowed = "nothing"),
    greetWith: (message) => (greeting = message),
    cut,
    shut: () => {
      isShut = true;
      cut();
    },
    open: () => (isShut = false),
    async close() {
      server.close();
      cut();
      await once(server, "close");
    },
  };
}

/** A text as a server sends it, of 126 bytes or more. */
function frameOf(message: unknown): Buffer {
  const text = Buffer.from(JSON.stringify(message));
  const head = Buffer.from([0x81, 126, 0, 0]);
  head.writeUInt16BE(text.length, 2);
  return Buffer.concat([head, text]);
}

/** What a server sends at once can be several texts; each begins with its length. The answer to the handshake is none. */
function framesIn(data: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < data.length;) {
    const short = (data[at + 1] ?? 0) & 0x7f;
    const length = data[at] === 0x81 ? (short === 126 ? 4 + data.readUInt16BE(at + 2) : 2 + short) : data.length;
    frames.push(data.subarray(at, at + length));
    at += length;
  }
  return frames;
}
