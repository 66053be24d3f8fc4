import { promises as dns } from "node:dns";
import { openHostsFile, type HostsLookup } from "./hostsFile.ts";

// Names of merchants' URLs are resolved by c-ares, not by getaddrinfo: that one runs in the few threads which the whole
// process shares, cannot be cancelled, and waits for as long as the merchant's name servers please.

/** Of one question to one name server. */
const QUESTION_MS = 1_500;
const QUESTION_TRIES = 2;
/** Of a name, whatever the name servers do. */
const LOOKUP_MS = 5_000;

export type ResolveName = (hostname: string) => Promise<readonly string[]>;

export type ResolveOptions = {
  /** The addresses of name servers, those of the operating system by default. */
  readonly servers?: readonly string[];
  readonly hosts?: HostsLookup;
  readonly timeoutMs?: number;
};

/** Returns a function that resolves a name to its addresses, IPv4 first. It throws an Error with a short reason. */
export function nameResolver(options: ResolveOptions = {}): ResolveName {
  const { servers, hosts = openHostsFile(), timeoutMs = LOOKUP_MS } = options;
  return async (hostname) => {
    const name = hostname.replace(/\.$/, "").toLowerCase();
    const known = await hosts(name);
    if (known.length > 0) return known;
    // One resolver a name, so that it can be cancelled, and takes up a change of the system's name servers.
    const resolver = new dns.Resolver({ timeout: QUESTION_MS, tries: QUESTION_TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    return ask(resolver, { name, timeoutMs });
  };
}

async function ask(resolver: dns.Resolver, question: { name: string; timeoutMs: number }): Promise<readonly string[]> {
  const { name, timeoutMs } = question;
  const timeout = AbortSignal.timeout(timeoutMs);
  const cancel = () => resolver.cancel();
  timeout.addEventListener("abort", cancel);
  try {
    // A name server that answers one of the two questions suffices: every address is checked before it is dialled.
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    if (addresses.length > 0) return addresses;
    const errors = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason as unknown] : []));
    throw new Error(reasonOf(name, errors.map(codeOf)));
  } finally {
    timeout.removeEventListener("abort", cancel);
  }
}

const NO_ADDRESS = ["ENOTFOUND", "ENODATA", "EBADNAME"];

function reasonOf(name: string, codes: readonly string[]): string {
  const other = codes.find((code) => !NO_ADDRESS.includes(code));
  if (other === undefined) return `the name ${name} has no address`;
  if (other === "ETIMEOUT" || other === "ECANCELLED") return `no name server answered for ${name} in time`;
  return `the name ${name} could not be resolved: ${other}`;
}

function codeOf(error: unknown): string {
  return String(error instanceof Error ? Reflect.get(error, "code") : error);
}
