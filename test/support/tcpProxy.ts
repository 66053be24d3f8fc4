import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A way to a server that a test can shut and open, as a network does. */
export type TcpProxy = {
  url: string;
  /** Whoever knocks is refused, and whoever is inside is thrown out. */
  disconnect(): Promise<void>;
  reconnect(): Promise<void>;
};

/** Two sockets of which neither outlives the other; `sockets` holds them while they last. */
export function linkSockets([socket, upstream]: readonly [Socket, Socket], sockets: Set<Socket>): void {
  for (const [end, other] of [
    [socket, upstream],
    [upstream, socket],
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
export async function openTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const forward = (socket: Socket) => {
    const upstream = connect(Number(port), hostname);
    linkSockets([socket, upstream], sockets);
    socket.pipe(upstream).pipe(socket);
  };
  const listen = async (at: number): Promise<Server> => {
    const server = createServer(forward).listen(at, "127.0.0.1");
    await once(server, "listening");
    return server;
  };
  let server: Server | undefined = await listen(0);
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a listening server has a port");
  const gate: TcpProxy = {
    url: `http://127.0.0.1:${address.port}`,
    async disconnect() {
      const closing = server;
      server = undefined;
      if (!closing) return;
      closing.close();
      for (const socket of sockets) socket.destroy();
      await once(closing, "close");
    },
    async reconnect() {
      server ??= await listen(address.port);
    },
  };
  await gate.disconnect();
  return gate;
}
