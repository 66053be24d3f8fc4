import process from "node:process";
import type { World } from "../../world.ts";
import {
  readRunning,
  removeDeadSockets,
  removeRunning,
  socketPathOf,
  writeRunning,
  type RunningKind,
} from "../home.ts";
import { perform } from "../operations/perform.ts";
import { openDoor, type Door } from "./open.ts";

const TOKEN_BYTES = 32;

/** Lets the commands of this user in, and leaves word where they find the door. */
export async function openOperatorDoor(
  world: World,
  { home, kind, ready }: { home: string; kind: RunningKind; ready: unknown },
): Promise<Door> {
  removeDeadSockets(home);
  const socketPath = socketPathOf(home, process.pid);
  const token = Buffer.from(world.entropy.bytes(TOKEN_BYTES)).toString("base64url");
  const door = await openDoor({
    socketPath,
    token,
    perform: (operation, input) => perform(world, operation, input),
    log: world.log,
  });
  const before = readRunning(home, kind);
  writeRunning(home, kind, { pid: process.pid, socketPath, token, baseUrl: world.config.baseUrl, ready });
  return {
    async close() {
      removeRunning(home, kind, { pid: process.pid, before });
      await door.close();
    },
  };
}
