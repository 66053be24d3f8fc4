import { isIPv4, isIPv6 } from "node:net";

const GROUPS = 8;
const NETWORK_GROUPS = 4;
/** The longest address that there is. */
const TEXT_CHARACTERS_MAX = 45;

/**
 * Whom a call is counted against: an IPv4 address, or the /64 of an IPv6 address, because a single subscriber has all of those. Text
 * that is no address stands for itself.
 */
export function callerNetwork(address: string): string {
  const [plain = ""] = address.split("%");
  if (isIPv4(plain) || !isIPv6(plain)) return plain.slice(0, TEXT_CHARACTERS_MAX);
  const groups = groupsOf(plain);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return groups.slice(6).flatMap(bytesOf).join(".");
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}

function groupsOf(address: string): number[] {
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

function bytesOf(group: number): number[] {
  return [group >> 8, group & 0xff];
}
