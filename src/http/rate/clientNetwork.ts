import { isIPv6 } from "node:net";

const GROUPS = 8;
const GROUP_BITS = 16;
const NETWORK_GROUPS = 4;
/** The length of the longest IP address text. */
const IP_CHARACTERS_MAX = 45;

/**
 * The key for rate limits: an IPv4 address, or the /64 of an IPv6 address, because one subscriber controls a whole /64.
 * A text that is not an address is its own key.
 */
export function toClientNetwork(address: string): string {
  const plain = normalizeIp(address);
  return ipv6Network(plain) ?? plain;
}

/** Removes the zone id, and turns an IPv4-mapped IPv6 address into IPv4. */
function normalizeIp(address: string): string {
  const [plain = ""] = address.split("%");
  if (!isIPv6(plain)) return plain.slice(0, IP_CHARACTERS_MAX);
  const groups = parseIpv6Groups(plain);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  return isMapped ? groups.slice(6).flatMap(groupBytes).join(".") : plain;
}

function ipv6Network(plain: string): string | undefined {
  if (!isIPv6(plain)) return undefined;
  const network = parseIpv6Groups(plain)
    .slice(0, NETWORK_GROUPS)
    .map((group) => group.toString(16));
  return `${network.join(":")}::/${NETWORK_GROUPS * GROUP_BITS}`;
}

function parseIpv6Groups(address: string): number[] {
  // The last two groups may be written as an IPv4 address.
  const text = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = "", tail] = text.split("::");
  const read = (part: string) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16)));
  const [before, after] = [read(head), read(tail ?? "")];
  return [...before, ...Array.from({ length: GROUPS - before.length - after.length }, () => 0), ...after];
}

function groupBytes(group: number): number[] {
  return [group >> 8, group & 0xff];
}
