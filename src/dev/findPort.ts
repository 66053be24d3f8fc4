import { createServer } from "node:net";

/** Returns the preferred port when it is free, else a free port that the system chooses. */
export async function findPort(host: string, preferred: number): Promise<number> {
  return (await probePort(host, preferred)) ?? (await probePort(host, 0)) ?? preferred;
}

/** Resolves with the port, or with undefined when it is in use. Port 0 chooses a free one. */
function probePort(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(undefined));
    server.listen(port, host, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : undefined));
    });
  });
}
