import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";

/** A proxy before a server that a test can close and open, as a network does. */
export type TcpProxy = {
  url: string;
  /** Refuses new connections and closes the present ones. */
  disconnect(): Promise<void>;
  reconnect(): Promise<void>;
};

/** Connects two sockets: when one closes, the other does. `sockets` holds them while they are open. */
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

/** Closed at first. */
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
  if (address === null || typeof address === "string") throw new Error("the server has no port");
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
