import type { ServerResponse } from "node:http";

/**
 * Calls `leave` once the client has gone, at once where it has gone already: a response emits "close" only to those who
 * listened before.
 */
export function onceClosed(response: ServerResponse, leave: () => void): void {
  if (response.destroyed) leave();
  else response.once("close", leave);
}
