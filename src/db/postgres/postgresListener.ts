import pg from "pg";
import { systemClock } from "../../kernel/clock.ts";

const RECONNECT_DELAY_FIRST_MS = 100;
const RECONNECT_DELAY_MAX_MS = 5_000;

type OnNotify = (payload: string) => void;

/**
 * One connection of its own for LISTEN, made at the first call and made again, for ever, whenever it is lost. After each
 * new connection every listener is called with an empty payload, since what was said meanwhile is gone.
 */
export class PostgresListener {
  readonly #config: pg.ClientConfig;
  readonly #listeners = new Map<string, Set<OnNotify>>();
  readonly #closing = new AbortController();
  #client: Promise<pg.Client> | undefined;

  constructor(config: pg.ClientConfig) {
    this.#config = config;
  }

  async listen(channel: string, onNotify: OnNotify): Promise<() => Promise<void>> {
    this.#closing.signal.throwIfAborted();
    const known = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, known.add(onNotify));
    try {
      const client = await (this.#client ??= this.#connect());
      await client.query(listenCommand("listen", channel));
    } catch (error) {
      known.delete(onNotify);
      throw error;
    }
    return async () => {
      known.delete(onNotify);
      if (known.size > 0 || this.#listeners.get(channel) !== known) return;
      this.#listeners.delete(channel);
      await (await this.#client)?.query(listenCommand("unlisten", channel)).catch(() => {});
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    const client = await this.#client?.catch(() => undefined);
    await client?.end();
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client(this.#config);
    client.on("error", () => {});
    client.on("notification", ({ channel, payload }) => this.#dispatch(channel, payload ?? ""));
    try {
      await client.connect();
    } catch (error) {
      this.#client = undefined;
      throw error;
    }
    client.once("end", () => void this.#reconnect());
    return client;
  }

  #dispatch(channel: string, payload: string): void {
    for (const onNotify of this.#listeners.get(channel) ?? []) onNotify(payload);
  }

  // Unbounded in number, since a listener that gave up would leave its process deaf; the pause between two tries is bounded.
  async #reconnect(): Promise<void> {
    const { signal } = this.#closing;
    this.#client = undefined;
    for (
      let delayMs = RECONNECT_DELAY_FIRST_MS;
      !signal.aborted;
      delayMs = Math.min(delayMs * 2, RECONNECT_DELAY_MAX_MS)
    ) {
      await systemClock.sleep(delayMs, signal);
      if (signal.aborted || (await this.#relisten())) return;
    }
  }

  async #relisten(): Promise<boolean> {
    try {
      const client = await (this.#client ??= this.#connect());
      for (const channel of this.#listeners.keys()) await client.query(listenCommand("listen", channel));
      for (const channel of this.#listeners.keys()) this.#dispatch(channel, "");
      return true;
    } catch {
      return false;
    }
  }
}

/** The command for a channel, whose name must be a plain lower-case word: it becomes part of the SQL. */
export function listenCommand(command: "listen" | "unlisten", channel: string): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(channel)) throw new RangeError(`not a channel: ${channel}`);
  return `${command} ${channel}`;
}
