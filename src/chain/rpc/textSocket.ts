import type { Socket } from "node:net";
import { Agent, buildConnector, WebSocket } from "undici";
import { ProviderFailed } from "../reader.ts";

/** A header is below two kilobytes; larger messages are no headers. */
const MESSAGE_BYTES_MAX = 1_048_576;

export type TextSocket = {
  send(text: string): void;
  /** Resolves once, with the reason of the end. */
  readonly ended: Promise<string>;
  /** Ends the socket at once, without the other side's closing handshake. */
  destroy(): void;
};

export type TextSocketOptions = {
  /** Limit for opening, in milliseconds. */
  timeoutMs: number;
  /** Receives each text message; must not throw. */
  onText: (text: string) => void;
  /** Cancels an opening. */
  signal: AbortSignal;
};

/** Opens a websocket. Throws ProviderFailed when it does not open in time. */
export async function openTextSocket(
  url: string,
  { timeoutMs, onText, signal }: TextSocketOptions,
): Promise<TextSocket> {
  const target = new URL(url);
  if (signal.aborted) throw new ProviderFailed("unreachable", `${target.host} is no longer needed`);
  const sockets = createSocketAgent(timeoutMs);
  const socket = new WebSocket(withoutCredentials(target), {
    dispatcher: sockets.agent,
    headers: basicAuthorization(target),
  });
  const ended = Promise.withResolvers<string>();
  const opened = Promise.withResolvers<boolean>();
  socket.addEventListener("open", () => opened.resolve(true));
  socket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") onText(data);
  });
  socket.addEventListener("error", ({ message }) => ended.resolve(message === "" ? "the connection failed" : message));
  socket.addEventListener("close", ({ code }) => ended.resolve(`the connection was closed with code ${code}`));
  void ended.promise.then(() => opened.resolve(false));
  const destroy = () => {
    ended.resolve("the client closed it");
    sockets.destroy();
  };
  signal.addEventListener("abort", destroy, { once: true });
  const isOpen = await opened.promise;
  signal.removeEventListener("abort", destroy);
  if (isOpen && !signal.aborted) return { send: (text) => socket.send(text), ended: ended.promise, destroy };
  destroy();
  throw new ProviderFailed("unreachable", `${target.host} was not reached: ${await ended.promise}`);
}

/**
 * Keeps the TCP sockets below a websocket, so that they can be destroyed: a websocket's own close waits for the other
 * side, which may be silent.
 */
function createSocketAgent(timeoutMs: number): { agent: Agent; destroy: () => void } {
  const sockets = new Set<Socket>();
  const connect = buildConnector({ timeout: timeoutMs, allowH2: false, keepAlive: true });
  const agent = new Agent({
    connect: (options, callback) =>
      connect(options, (...result) => {
        if (result[1] !== null) sockets.add(result[1]);
        callback(...result);
      }),
    headersTimeout: timeoutMs,
    webSocket: { maxPayloadSize: MESSAGE_BYTES_MAX },
  });
  const destroy = () => {
    for (const socket of sockets) socket.destroy();
    void agent.destroy();
  };
  return { agent, destroy };
}

function withoutCredentials(url: URL): string {
  const bare = new URL(url);
  bare.username = "";
  bare.password = "";
  return bare.href;
}

function basicAuthorization(url: URL): Record<string, string> {
  if (url.username === "") return {};
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}
