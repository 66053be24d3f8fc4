import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import type { Ledger } from "../ledger/ledger.ts";
import type { Methods } from "../rpc/methods.ts";
import { answerText, writeJson } from "../rpc/server.ts";
import { acceptWebSocket } from "./frames.ts";
import { Subscriptions } from "./subscriptions.ts";

/** Serves subscriptions on the server's port, and every other method as well. The result ends all connections. */
export function serveSubscriptions(server: Server, ledger: Ledger, methods: Methods): () => void {
  const sockets = new Set<Duplex>();
  server.on("upgrade", (request, socket: Duplex) => {
    const subscriptions = new Subscriptions(ledger, ({ method, subscription, result }) => {
      connection?.send(writeJson({ jsonrpc: "2.0", method, params: { result, subscription } }));
    });
    const allMethods = { ...methods, ...subscriptions.methods };
    const connection = acceptWebSocket(request, socket, (text) => connection?.send(answerText(allMethods, text)));
    sockets.add(socket);
    socket.once("close", () => {
      subscriptions.close();
      sockets.delete(socket);
    });
  });
  return () => {
    for (const socket of sockets) socket.destroy();
  };
}
