const PREFIXES = ["/docs/", "/c/", "/sdk/", "/hooks/", "/dev/"];
const PAGES = new Set(["/docs", "/openapi.json", "/healthz", "/readyz", "/metrics", "/demo", "/ops", "/dashboard"]);

/** Whether a path is a document's: people and probes open those, with neither version nor key. */
export function isDocument(url: string): boolean {
  const path = url.split("?", 1)[0] ?? "";
  return PAGES.has(path) || PREFIXES.some((prefix) => path.startsWith(prefix));
}
