import { connect, type Socket } from "node:net";

// Clients that never finish a request: each holds a connection and sends a byte regularly to avoid idle timeouts.

/** The slow part: a growing head, the body of an unauthenticated call, or nothing after one call. */
export type SlowAttack = "head" | "body" | "idle";

export type SlowClients = {
  /** Connections that are open now. */
  open(): number;
  /** Connections that the server closed, by the status it sent before; 0 without one. */
  ended: ReadonlyMap<number, number>;
  stop(): void;
};

export type SlowClientOptions = {
  port: number;
  host?: string;
  connections: number;
  attack: SlowAttack;
  intervalMs: number;
  /** Whether a closed connection is opened again. */
  reconnects: boolean;
};

const CONNECTIONS_PER_ROUND = 200;
const ROUND_INTERVAL_MS = 20;

const INITIAL_BYTES: Readonly<Record<SlowAttack, string>> = {
  head: "GET /healthz HTTP/1.1\r\nhost: x\r\nx: ",
  body: "POST /c/pi_00000000000000000000000000/session HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n",
  idle: "GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n",
};

/** Opens the connections in rounds, and keeps sending until `stop`. */
export function openSlowClients(options: SlowClientOptions): SlowClients {
  const { attack, connections, intervalMs, reconnects } = options;
  const sockets = new Set<Socket>();
  const ended = new Map<number, number>();
  let opened = 0;
  let isStopped = false;

  function open(): void {
    if (isStopped) return;
    opened += 1;
    const socket = connect({
      host: options.host ?? "127.0.0.1",
      port: options.port,
    });
    let status = 0;
    socket.on("data", (chunk: Buffer) => {
      status = Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString("latin1"))?.[1] ?? status);
    });
    socket.on("error", () => {});
    socket.on("end", () => socket.destroy());
    socket.on("close", () => {
      sockets.delete(socket);
      if (isStopped) return;
      ended.set(status, (ended.get(status) ?? 0) + 1);
      if (reconnects) opened -= 1;
    });
    socket.write(INITIAL_BYTES[attack]);
    sockets.add(socket);
  }

  const opening = setInterval(() => {
    for (let count = 0; count < CONNECTIONS_PER_ROUND && opened < connections; count += 1) open();
  }, ROUND_INTERVAL_MS);
  const dripping = setInterval(() => {
    if (attack !== "idle") for (const socket of sockets) socket.write("x");
  }, intervalMs);

  return {
    open: () => [...sockets].filter((socket) => !socket.connecting).length,
    ended,
    stop() {
      isStopped = true;
      clearInterval(opening);
      clearInterval(dripping);
      for (const socket of sockets) socket.destroy();
    },
  };
}
