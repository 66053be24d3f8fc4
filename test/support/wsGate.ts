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
  speak(): void;
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
  let swallowed: "nothing" | "heads" | "everything" = "nothing";
  // A server's frames are not masked, so that their text can be read.
  const comesThrough = (data: Buffer) =>
    swallowed === "nothing" || (swallowed === "heads" && !data.includes("eth_subscription"));
  let connections = 0;
  let isShut = false;
  const server = createServer((socket) => {
    if (isShut) {
      socket.destroy();
      return;
    }
    connections += 1;
    const onward = connect(Number(port), hostname);
    endTogether([socket, onward], sockets);
    socket.pipe(onward);
    onward.on("data", (data) => {
      if (comesThrough(data)) socket.write(data);
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
    speak: () => (swallowed = "nothing"),
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
