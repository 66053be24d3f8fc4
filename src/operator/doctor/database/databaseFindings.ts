import { readFileSync } from "node:fs";
import type { Config } from "../../../config/config.ts";
import type { Finding } from "../finding.ts";

const LOCAL_HOSTS = ["", "localhost", "127.0.0.1", "[::1]"];
const WHAT = "database: TLS";

/** Whether the connection to the database is encrypted, and to whom. No finding on the same machine. */
export function databaseFindings({ database }: Pick<Config, "database">): Finding[] {
  if (database.kind !== "postgres") return [];
  const url = URL.parse(database.url);
  if (url === null || LOCAL_HOSTS.includes(url.hostname) || url.searchParams.has("host")) return [];
  const mode = url.searchParams.get("sslmode") ?? (url.searchParams.get("ssl") === "true" ? "verify-full" : "disable");
  const isLibpq = url.searchParams.get("uselibpqcompat") === "true";
  const warn = (found: string): Finding[] => [{ what: WHAT, verdict: "warn", found }];
  if (mode === "disable")
    return warn(
      "the connection is not encrypted: add sslmode=verify-full to the URL, and sslrootcert=FILE for a CA of its own",
    );
  if (mode === "no-verify" || (isLibpq && ["require", "prefer", "allow"].includes(mode)))
    return warn(`sslmode=${mode} trusts any certificate: use verify-full with sslrootcert=FILE`);
  const file = url.searchParams.get("sslrootcert");
  if (file !== null && !isReadable(file)) return [{ what: WHAT, verdict: "fail", found: `${file} cannot be read` }];
  return [{ what: WHAT, verdict: "ok", found: file === null ? "verified by the public CAs" : `verified by ${file}` }];
}

function isReadable(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}
