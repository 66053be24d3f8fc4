import { isIP } from "node:net";
import { buildConnector } from "undici";
import { isAddressAllowed, refusedAddress, type AddressPolicy } from "./addressPolicy.ts";

/** How long one address of several may take. */
const ADDRESS_MS = 3_000;
/** Addresses of a name that are tried for one connection. */
const ADDRESSES_MAX = 3;

export type DialOptions = {
  readonly policy: AddressPolicy;
  readonly lookup: (hostname: string) => Promise<readonly string[]>;
  readonly timeoutMs: number;
};

/**
 * Returns a connector that resolves a name, checks its addresses, and connects to one of them. It refuses a name when
 * any of its addresses is refused: a mixed answer is an attempt to get past the check.
 */
export function guardedConnector({ policy, lookup, timeoutMs }: DialOptions): buildConnector.connector {
  const connectors = {
    last: buildConnector({ allowH2: false, timeout: timeoutMs }),
    earlier: buildConnector({ allowH2: false, timeout: Math.min(ADDRESS_MS, timeoutMs) }),
  };
  const findAddresses = async (hostname: string) => {
    const isName = isIP(hostname) === 0;
    const addresses = isName ? await lookup(hostname) : [hostname];
    const refused = addresses.find((address) => !isAddressAllowed(policy, address));
    // The merchant reads this, and must not learn the addresses of a private network by its names.
    if (refused !== undefined)
      throw new Error(isName ? `the name ${hostname} has an address that is not public` : refusedAddress(refused));
    if (addresses.length === 0) throw new Error(`the name ${hostname} has no address`);
    return inTurns(addresses).slice(0, ADDRESSES_MAX);
  };
  return (target, callback) => {
    const name = hostOf(target.hostname);
    const servername = isIP(name) === 0 && target.protocol === "https:" ? { servername: name } : {};
    const dial = ([hostname = "", ...others]: readonly string[]): void => {
      const connect = others.length === 0 ? connectors.last : connectors.earlier;
      connect({ ...target, ...servername, hostname }, (...outcome) => {
        const [error] = outcome;
        if (error !== null && others.length > 0) dial(others);
        else callback(...outcome);
      });
    };
    void (async () => {
      try {
        dial(await findAddresses(name));
      } catch (error) {
        callback(asError(error), null);
      }
    })();
  };
}

/** IPv6 addresses stand in brackets in a URL. */
export function hostOf(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}

/** A machine may have one family of addresses only, so the second try is of the other one. */
function inTurns(addresses: readonly string[]): string[] {
  const ofFamily = (family: number) => addresses.filter((address) => isIP(address) === family);
  const [ipv4, ipv6] = [ofFamily(4), ofFamily(6)];
  return addresses.flatMap((_, index) => [...ipv4.slice(index, index + 1), ...ipv6.slice(index, index + 1)]);
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
