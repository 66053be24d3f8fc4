const DOCUMENT_PREFIXES = ["/docs/", "/c/", "/sdk/", "/hooks/", "/dev/", "/ops/", "/dashboard/"];
const DOCUMENT_PATHS = new Set([
  "/docs",
  "/openapi.json",
  "/healthz",
  "/readyz",
  "/metrics",
  "/demo",
  "/ops",
  "/dashboard",
]);

/** Whether a path serves a document or a probe, which need no version and no key. */
export function isDocumentPath(url: string): boolean {
  const path = url.split("?", 1)[0] ?? "";
  return DOCUMENT_PATHS.has(path) || DOCUMENT_PREFIXES.some((prefix) => path.startsWith(prefix));
}
