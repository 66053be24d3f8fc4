import { Server as NetServer } from "node:net";
import type { FastifyInstance } from "fastify";
import { systemTimer } from "../../kernel/clock.ts";

/** Whether this process is about to stop. Nothing takes it back. */
export type Leaving = { isLeaving: boolean };

/** How long a connection that was accepted as the last one has for its first request. */
const LAST_REQUEST_MS = 100;

/**
 * While the process leaves, each response closes its connection. A connection that is closed between two requests would
 * reset a request that its client sends in that moment.
 */
export function closeConnectionsWhileLeaving(server: FastifyInstance, leaving: Leaving): void {
  server.addHook("onSend", async (_request, reply) => {
    if (leaving.isLeaving) reply.header("connection", "close");
  });
}

/**
 * Closes a server without a reset: answers for `leaveMs` while it leaves, then accepts no connection, answers what is
 * on its way, and closes. Resolves when the last connection has ended.
 */
export async function leaveAndClose(server: FastifyInstance, leaving: Leaving, leaveMs: number): Promise<void> {
  leaving.isLeaving = true;
  if (leaveMs > 0) {
    await systemTimer.sleep(leaveMs);
    const ended = Promise.withResolvers<void>();
    // Node's own close for HTTP also ends the connections that have not sent their first request yet.
    NetServer.prototype.close.call(server.server, () => ended.resolve());
    await systemTimer.sleep(LAST_REQUEST_MS);
    await Promise.all([server.close(), ended.promise]);
  } else await server.close();
}
