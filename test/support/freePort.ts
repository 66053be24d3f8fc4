import process from "node:process";
import { findPort } from "../../src/dev/findPort.ts";

// A service gets its port seconds before it listens there. A port from the system may be gone by then, because the
// system gives those to connections, chains and other tests too. These are below the ports of the system, and each
// process of a run has a block of its own.

const HOST = "127.0.0.1";
const PORT_FIRST = 11_000;
const BLOCKS = 1_000;
const PORTS_IN_BLOCK = 20;

let chosen = 0;

/** A free port for a service that starts soon. */
export async function chooseFreePort(): Promise<number> {
  const first = PORT_FIRST + (process.pid % BLOCKS) * PORTS_IN_BLOCK;
  for (let tries = 0; tries < PORTS_IN_BLOCK; tries += 1) {
    const port = first + (chosen % PORTS_IN_BLOCK);
    chosen += 1;
    if ((await findPort(HOST, port)) === port) return port;
  }
  throw new Error(`no port from ${first} to ${first + PORTS_IN_BLOCK - 1} is free`);
}
