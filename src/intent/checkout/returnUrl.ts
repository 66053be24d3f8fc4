import { Fault } from "../../kernel/faults.ts";

/**
 * Returns a valid return URL as it is. The page links there, so it must be https (in a test environment also http),
 * without user and password. Throws invalid_request.
 */
export function requireReturnUrl(text: string | null, environment: "test" | "live"): string | null {
  if (text === null) return null;
  // URL.parse removes tabs and line breaks, and spaces at the ends.
  const url = /[\s\p{C}]/u.test(text) ? null : URL.parse(text);
  const isAllowed = url?.protocol === "https:" || (url?.protocol === "http:" && environment === "test");
  if (url !== null && isAllowed && url.username === "" && url.password === "" && url.hostname !== "") return text;
  const scheme = environment === "test" ? "https:// or http://" : "https://";
  const message = `returnUrl must be a URL that begins with ${scheme}, without user and password.`;
  throw new Fault("invalid_request", { param: "returnUrl", message });
}
