// A page origin is where a merchant's web pages live: scheme, host and port, as a browser tells them in the header Origin. One that
// is on an account's list may embed the checkout of that account's intents. It becomes part of a header, so its form is strict.

const HOST = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])$/;
const ORIGIN_CHARACTERS_MAX = 260;

/** The form in which browsers send it; undefined when the text is no single origin, or is not encrypted where it must be. */
export function normalizePageOrigin(text: string, environment: "test" | "live"): string | undefined {
  const url = text.length <= ORIGIN_CHARACTERS_MAX ? URL.parse(text) : null;
  if (url === null || !HOST.test(url.hostname)) return undefined;
  if (url.protocol !== "https:" && !(url.protocol === "http:" && environment === "test")) return undefined;
  const isBare = url.pathname === "/" && url.search === "" && url.hash === "" && url.username + url.password === "";
  return isBare && !/[?#@]/.test(text) ? url.origin : undefined;
}
