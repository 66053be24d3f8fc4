import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { systemTimer } from "../clock.ts";

const HOSTS_PATH = "/etc/hosts";
/** How long a reading of the file is used. */
const READING_MS = 10_000;
const LOOPBACK: readonly string[] = ["127.0.0.1", "::1"];

type Hosts = ReadonlyMap<string, readonly string[]>;
export type HostsLookup = (hostname: string) => Promise<readonly string[]>;

/** Returns a lookup of names in the operating system's hosts file, which never rejects. `localhost` is always known. */
export function openHostsFile(path = HOSTS_PATH): HostsLookup {
  let reading: { hosts: Promise<Hosts>; untilMs: number } | undefined;
  return async (hostname) => {
    if (hostname === "localhost" || hostname.endsWith(".localhost")) return LOOPBACK;
    const nowMs = systemTimer.monotonicMs();
    if (reading === undefined || reading.untilMs <= nowMs)
      reading = { hosts: readHosts(path), untilMs: nowMs + READING_MS };
    return (await reading.hosts).get(hostname) ?? [];
  };
}

/** A machine without the file, or with one that cannot be read, has no names in it. */
async function readHosts(path: string): Promise<Hosts> {
  const text = await readFile(path, "utf8").catch(() => "");
  return parseHosts(text);
}

export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    if (isIP(address) === 0) continue;
    for (const name of names.map((each) => each.toLowerCase())) hosts.set(name, [...(hosts.get(name) ?? []), address]);
  }
  return hosts;
}
