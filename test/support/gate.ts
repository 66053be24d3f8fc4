import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A way to a server that a test can shut and open, as a network does. */
export type Gate = {
  url: string;
  /** Whoever knocks is refused, and whoever is inside is thrown out. */
  shut(): Promise<void>;
  open(): Promise<void>;
};

/** Two sockets of which neither outlives the other; `sockets` holds them while they last. */
export function endTogether([socket, onward]: readonly [Socket, Socket], sockets: Set<Socket>): void {
  for (const [end, other] of [
    [socket, onward],
    [onward, socket],
  ] as const) {
    sockets.add(end);
    end.on("error", () => other.destroy());
    end.on("close", () => {
      sockets.delete(end);
      other.destroy();
    });
  }
}

/** Shut at first. */
export async function openGate(target: string): Promise<Gate> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const forward = (socket: Socket) => {
    const onward = connect(Number(port), hostname);
    endTogether([socket, onward], sockets);
    socket.pipe(onward).pipe(socket);
  };
  const listen = async (at: number): Promise<Server> => {
    const server = createServer(forward).listen(at, "127.0.0.1");
    await once(server, "listening");
    return server;
  };
  let server: Server | undefined = await listen(0);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a listening server has a port");
  const gate: Gate = {
    url: `http://127.0.0.1:${address.port}`,
    async shut() {
      const closing = server;
      server = undefined;
      if (!closing) return;
      closing.close();
      for (const socket of sockets) socket.destroy();
      await once(closing, "close");
    },
    async open() {
      server ??= await listen(address.port);
    },
  };
  await gate.shut();
  return gate;
}
