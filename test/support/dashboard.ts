import type { Merchant, TestApi, TestResponse } from "./api.ts";

// Signing in to the dashboard as a browser does.

export const FORM = { "content-type": "application/x-www-form-urlencoded" };

let network = 0;

/** Each sign-in comes from a network of its own, so that the limit of one test is not that of another. */
export function signIn(api: TestApi, apiKey: string, headers: Record<string, string> = {}): Promise<TestResponse> {
  network += 1;
  const body = new URLSearchParams({ key: apiKey }).toString();
  const remoteAddress = `10.1.${network >> 8}.${network & 255}`;
  return api.send("/dashboard/sign-in", { method: "POST", headers: { ...FORM, ...headers }, body, remoteAddress });
}

export function cookieOf({ headers }: TestResponse): string {
  return String(headers["set-cookie"]).split(";")[0] ?? "";
}

export async function openPages(api: TestApi, { apiKey }: Merchant) {
  const cookie = cookieOf(await signIn(api, apiKey));
  return { cookie, get: (path: string) => api.send(path, { headers: { cookie } }) };
}

/** The token that the forms of a page carry. */
export function formToken({ text }: TestResponse): string {
  return /name="token" value="([^"]+)"/.exec(text)?.[1] ?? "";
}
