import { request } from "undici";
import { systemClock } from "../kernel/clock.ts";
import { CommandFailed } from "./command.ts";

/** The API as a merchant's program uses it: a key, a version, JSON in and out. */
export type Api = {
  readonly baseUrl: string;
  get(path: string): Promise<unknown>;
  post(path: string, body: unknown): Promise<unknown>;
};

const VERSION = "2026-11-01";
/** How often one call is tried when the service says "later"; each wait is what it asks for. */
const TRIES_MAX = 10;
const WAIT_S_DEFAULT = 1;
const WAIT_S_MAX = 60;

export function openApi({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): Api {
  async function call(method: "GET" | "POST", path: string, body?: unknown): Promise<unknown> {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      "service-version": VERSION,
      "content-type": "application/json",
    };
    for (let tries = 1; ; tries += 1) {
      const answer = await send(`${baseUrl}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (answer.status < 300) return answer.value;
      const isWorthAnother = answer.status === 429 || (answer.status === 503 && method === "GET");
      if (!isWorthAnother || tries >= TRIES_MAX) throw refusal(`${method} ${path}`, answer);
      await systemClock.sleep(Math.min(answer.retryAfterS, WAIT_S_MAX) * 1_000);
    }
  }
  return { baseUrl, get: (path) => call("GET", path), post: (path, body) => call("POST", path, body) };
}

type Answer = { status: number; retryAfterS: number; value: unknown };

async function send(
  url: string,
  options: { method: "GET" | "POST"; headers: Record<string, string>; body?: string },
): Promise<Answer> {
  try {
    const { statusCode, headers, body } = await request(url, options);
    const text = await body.text();
    const retryAfterS = Number(headers["retry-after"] ?? WAIT_S_DEFAULT) || WAIT_S_DEFAULT;
    return { status: statusCode, retryAfterS, value: parse(text) };
  } catch (error) {
    throw new CommandFailed(`${url} does not answer: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refusal(what: string, { status, value }: Answer): CommandFailed {
  const error = fieldOf(value, "error");
  const code = fieldOf(error, "code");
  const message = fieldOf(error, "message");
  const said = typeof code === "string" ? `${code}: ${String(message)}` : "no error that could be read";
  return new CommandFailed(`${what} was answered with ${status} ${said}`);
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
}
