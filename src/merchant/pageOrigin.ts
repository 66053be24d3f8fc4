// The origin of a merchant's web pages: scheme, host and port, as browsers send them in the Origin header. Listed
// origins may embed the checkout of the account's intents. The text becomes part of a header, so its form is strict.

const HOST = /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])$/;
const ORIGIN_CHARACTERS_MAX = 260;

/**
 * Returns the form that browsers send; undefined when the text is not one origin, or lacks https where it is required.
 */
export function normalizePageOrigin(text: string, environment: "test" | "live"): string | undefined {
  const url = text.length <= ORIGIN_CHARACTERS_MAX ? URL.parse(text) : null;
  if (url === null || !HOST.test(url.hostname)) return undefined;
  if (url.protocol !== "https:" && !(url.protocol === "http:" && environment === "test")) return undefined;
  const isBare = url.pathname === "/" && url.search === "" && url.hash === "" && url.username + url.password === "";
  return isBare && !/[?#@]/.test(text) ? url.origin : undefined;
}
