const COOKIE_NAME = "tributary_session";

export type CookieOptions = { path: string; maxAgeMs: number; isSecure: boolean; isEmbedded: boolean };

/**
 * Formats the session cookie of one intent's page. Scripts cannot read it. Other sites' requests do not carry it;
 * following a link to the page does, so that a payer who comes back from a wallet finds the payment open. In a
 * merchant's page it is a third-party cookie: the browser partitions it by the merchant's site and requires HTTPS.
 */
export function formatSessionCookie(value: string, { path, maxAgeMs, isSecure, isEmbedded }: CookieOptions): string {
  const parts = [`${COOKIE_NAME}=${value}`, `Path=${path}`, `Max-Age=${Math.floor(maxAgeMs / 1_000)}`, "HttpOnly"];
  const sameSite = isEmbedded ? ["SameSite=None", "Partitioned"] : ["SameSite=Lax"];
  return [...parts, ...sameSite, ...(isSecure ? ["Secure"] : [])].join("; ");
}

/**
 * Returns the values of the session cookies in a Cookie header. There may be two: one of a page of its own, and one
 * that a browser partitioned by a merchant's site.
 */
export function parseSessionCookies(header: string | undefined): string[] {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${COOKIE_NAME}=`)).map((pair) => pair.slice(COOKIE_NAME.length + 1));
}
