const NAME = "tributary_session";

/** The cookie of one intent's page: scripts cannot read it, and no other page's requests carry it. */
export function sessionCookie(value: string, options: { path: string; maxAgeMs: number; isSecure: boolean }): string {
  const { path, maxAgeMs, isSecure } = options;
  const parts = [
    `${NAME}=${value}`,
    `Path=${path}`,
    `Max-Age=${Math.floor(maxAgeMs / 1_000)}`,
    "HttpOnly",
    "SameSite=Strict",
  ];
  return [...parts, ...(isSecure ? ["Secure"] : [])].join("; ");
}

/** The session among the cookies of a request; undefined when there is none. */
export function readSessionCookie(header: string | undefined): string | undefined {
  const pairs = (header ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${NAME}=`))?.slice(NAME.length + 1);
}
