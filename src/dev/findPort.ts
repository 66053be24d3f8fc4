import { createServer } from "node:net";

/** The wanted port where it is free, else one that the system picks. */
export async function findPort(host: string, preferred: number): Promise<number> {
  return (await probePort(host, preferred)) ?? (await probePort(host, 0)) ?? preferred;
}

/** Undefined when somebody else listens there. */
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
