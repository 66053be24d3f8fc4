const COOKIE_NAME = "tributary_session";

export type CookieOptions = { path: string; maxAgeMs: number; isSecure: boolean; isEmbedded: boolean };

/**
 * The cookie of one intent's page: scripts cannot read it, and no other page's requests carry it. Inside a merchant's page the browser
 * counts it as a third party's: it is kept apart for that merchant's site, and needs an encrypted connection.
 */
export function formatSessionCookie(value: string, { path, maxAgeMs, isSecure, isEmbedded }: CookieOptions): string {
  const parts = [`${COOKIE_NAME}=${value}`, `Path=${path}`, `Max-Age=${Math.floor(maxAgeMs / 1_000)}`, "HttpOnly"];
  const sameSite = isEmbedded ? ["SameSite=None", "Partitioned"] : ["SameSite=Strict"];
  return [...parts, ...sameSite, ...(isSecure ? ["Secure"] : [])].join("; ");
}

/** The session among the cookies of a request; undefined when there is none. */
export function parseSessionCookie(header: string | undefined): string | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${COOKIE_NAME}=`))?.slice(COOKIE_NAME.length + 1);
}
