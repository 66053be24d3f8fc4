import { connect, type Socket } from "node:net";

// Callers who begin and do not end: each holds a connection and sends a byte now and then, so that it never looks idle.

/** What is dripped: a head that gets longer, the body of a call that nobody has to be known for, or nothing after one call. */
export type Drip = "head" | "body" | "idle";

export type Slow = {
  /** Connections that stand now, of all that were opened. */
  open(): number;
  /** How many were closed by the other side, by the status that it gave before; 0 without one. */
  ended: ReadonlyMap<number, number>;
  stop(): void;
};

export type SlowOptions = {
  port: number;
  host?: string;
  connections: number;
  /** Networks of this machine's own that they come from in turns; from where everybody else comes when left out. */
  networks?: number;
  drip: Drip;
  everyMs: number;
  /** Whoever is thrown out comes again. */
  isStubborn: boolean;
};

const OPENED_AT_ONCE = 200;
const OPENED_EVERY_MS = 20;

const BEGINNINGS: Readonly<Record<Drip, string>> = {
  head: "GET /healthz HTTP/1.1\r\nhost: x\r\nx: ",
  body: "POST /c/pi_00000000000000000000000000/session HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n",
  idle: "GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n",
};

/** Opens them a few at a time, and goes on until it is stopped. */
export function openSlow(options: SlowOptions): Slow {
  const { drip, connections, everyMs, isStubborn, networks = 0 } = options;
  let turn = 0;
  const sockets = new Set<Socket>();
  const ended = new Map<number, number>();
  let opened = 0;
  let isStopped = false;

  function open(): void {
    if (isStopped) return;
    opened += 1;
    const socket = connect({ host: options.host ?? "127.0.0.1", port: options.port, ...fromOf(turn++, networks) });
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
      if (isStubborn) opened -= 1;
    });
    socket.write(BEGINNINGS[drip]);
    sockets.add(socket);
  }

  const opening = setInterval(() => {
    for (let count = 0; count < OPENED_AT_ONCE && opened < connections; count += 1) open();
  }, OPENED_EVERY_MS);
  const dripping = setInterval(() => {
    if (drip !== "idle") for (const socket of sockets) socket.write("x");
  }, everyMs);

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

/** 127.1.0.0 and what follows it: all of 127.0.0.0/8 is this machine. */
function fromOf(turn: number, networks: number): { localAddress?: string } {
  if (networks === 0) return {};
  const network = turn % networks;
  return { localAddress: `127.1.${network >> 8}.${network & 0xff}` };
}
