import ipaddr from "ipaddr.js";

export type AddressPolicy = {
  /** Whether URLs may be http. */
  readonly allowsHttp: boolean;
  /** Networks in CIDR notation that may be reached although they are private. */
  readonly allow: readonly string[];
  /** Networks in CIDR notation that are never reached. They win over `allow`. */
  readonly deny: readonly string[];
};

/** Answers for the machines of a cloud on an address of the public range. */
const CLOUD_PLATFORM = "168.63.129.16/32";
/** All public addresses of IPv6 are in it; IPv4 in the clothes of IPv6 is not. */
const PUBLIC_IPV6 = "2000::/3";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Whether a connection to this address may be opened. A text that is no address is refused. */
export function isAddressAllowed(policy: AddressPolicy, text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (isWithin(address, [CLOUD_PLATFORM, ...policy.deny])) return false;
  return isPublic(address) || isWithin(address, policy.allow);
}

export function refusedAddress(address: string): string {
  return `the address ${address} is not public`;
}

function isPublic(address: Address): boolean {
  return address.range() === "unicast" && (address.kind() === "ipv4" || isWithin(address, [PUBLIC_IPV6]));
}

/** Networks of the other family, and of IPv4 written as IPv6, match nothing. */
function isWithin(address: Address, networks: readonly string[]): boolean {
  return networks.some((network) => {
    const [start, length] = ipaddr.parseCIDR(network);
    return start.kind() === address.kind() && address.match(start as ipaddr.IPv4 & ipaddr.IPv6, length);
  });
}
