import process from "node:process";
import type { World } from "../../world.ts";
import { removeStaleFiles, removeRunFile, socketPathOf, writeRunFile, type ProcessKind } from "./home.ts";
import { runNamedOperation } from "../runOperation.ts";
import { startControlServer, type ControlServer } from "./controlServer.ts";

const TOKEN_BYTES = 32;

/** Starts the control server, and writes the run file by which commands find it. `close` undoes both. */
export async function startOperatorControl(
  world: World,
  { home, kind, ready }: { home: string; kind: ProcessKind; ready: unknown },
): Promise<ControlServer> {
  removeStaleFiles(home);
  const socketPath = socketPathOf(home, process.pid);
  const token = Buffer.from(world.entropy.bytes(TOKEN_BYTES)).toString("base64url");
  const server = await startControlServer({
    socketPath,
    token,
    runOperation: (operation, input) => runNamedOperation(world, operation, input),
    log: world.log,
  });
  writeRunFile(home, kind, { pid: process.pid, socketPath, token, baseUrl: world.config.baseUrl, ready });
  return {
    async close() {
      removeRunFile(home, kind, process.pid);
      await server.close();
    },
  };
}
