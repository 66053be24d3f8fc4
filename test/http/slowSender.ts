import { once } from "node:events";
import { connect } from "node:net";
import process from "node:process";

// A client in its own process, so that its memory does not count as the service's.

/** Sends `head` and then `chunk` (base64) up to `chunks` times or until the server closes, on each of `connections`. */
export type SendOrder = { port: number; head: string; chunk: string; chunks: number; connections: number };
process.once("message", (order: SendOrder) => {
  void sendChunks(order).then((statuses) => process.send?.(statuses));
});

/** Returns the start of each status line. */
async function sendChunks({ port, head, chunk, chunks, connections }: SendOrder): Promise<string[]> {
  const bytes = Buffer.from(chunk, "base64");
  const statuses: string[] = [];
  for (let count = 0; count < connections; count += 1) {
    const socket = connect({ host: "127.0.0.1", port });
    let answer = "";
    socket.on("data", (data: Buffer) => {
      answer += data.toString("latin1");
    });
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(head);
    for (let sent = 0; sent < chunks && !socket.destroyed; sent += 1) {
      if (!socket.write(bytes)) await Promise.race([once(socket, "drain").catch(() => {}), closed]);
    }
    await closed;
    statuses.push(answer.slice(0, "HTTP/1.1 413".length));
  }
  return statuses;
}
