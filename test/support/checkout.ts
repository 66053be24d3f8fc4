import assert from "node:assert/strict";
import type { Json, TestApi, TestResponse } from "./api.ts";

/** A session of the checkout page of one intent, as a browser holds it. */
export type OpenCheckout = {
  intentId: string;
  /** The cookie as the browser sends it back. */
  cookie: string;
  get: (path: string) => Promise<TestResponse>;
  post: (path: string, body?: object, headers?: Record<string, string>) => Promise<TestResponse>;
};

/** Opens the page of a created intent with its widget token. */
export async function openCheckout(api: TestApi, created: Json): Promise<OpenCheckout> {
  const { intentId, widgetToken } = created;
  const opened = await sendSession(api, intentId, { widgetToken });
  assert.equal(opened.status, 204, opened.text);
  return withCookie(api, intentId, cookieOf(opened));
}

/** The requests of a page with a cookie. */
export function withCookie(api: TestApi, intentId: string, cookie: string): OpenCheckout {
  const json = { "content-type": "application/json" };
  return {
    intentId,
    cookie,
    get: (path) => api.send(`/c/${intentId}/${path}`, { headers: { cookie } }),
    post: (path, body, headers = {}) =>
      api.send(`/c/${intentId}/${path}`, {
        method: "POST",
        headers: { cookie, ...(body === undefined ? {} : json), ...headers },
        body,
      }),
  };
}

export function sendSession(api: TestApi, intentId: string, body: object): Promise<TestResponse> {
  return api.send(`/c/${intentId}/session`, { method: "POST", headers: { "content-type": "application/json" }, body });
}

export function cookieOf({ headers }: TestResponse): string {
  return String(headers["set-cookie"]).split(";")[0] ?? "";
}
