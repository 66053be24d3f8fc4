const COOKIE_NAME = "tributary_session";

export type CookieOptions = { path: string; maxAgeMs: number; isSecure: boolean; isEmbedded: boolean };

/**
 * Formats the session cookie of one intent's page. Scripts cannot read it, and requests of other pages do not carry it. In a merchant's
 * page it is a third-party cookie: the browser partitions it by the merchant's site and requires HTTPS.
 */
export function formatSessionCookie(value: string, { path, maxAgeMs, isSecure, isEmbedded }: CookieOptions): string {
  const parts = [`${COOKIE_NAME}=${value}`, `Path=${path}`, `Max-Age=${Math.floor(maxAgeMs / 1_000)}`, "HttpOnly"];
  const sameSite = isEmbedded ? ["SameSite=None", "Partitioned"] : ["SameSite=Strict"];
  return [...parts, ...sameSite, ...(isSecure ? ["Secure"] : [])].join("; ");
}

/** Returns the session id from a Cookie header; undefined when it has none. */
export function parseSessionCookie(header: string | undefined): string | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${COOKIE_NAME}=`))?.slice(COOKIE_NAME.length + 1);
}
