import { isIPv6 } from "node:net";
import type { AddressPolicy } from "../kernel/outbound/addressPolicy.ts";
import type { Config, OutboundConfig } from "./config.ts";
import * as rules from "./rules.ts";
import { ConfigError, hasField, quoteValue, readList, readSection, type ConfigSection } from "./section.ts";

/**
 * Reads which networks requests to merchants' URLs may reach beside the public ones, and which never. Throws
 * ConfigError.
 */
export function readOutbound(section: ConfigSection): OutboundConfig {
  const outbound = readSection(section.fields["outbound"] ?? {}, { path: "outbound", known: ["allow", "deny"] });
  const read = (key: string) => readNetworks(outbound, key).map(toCidr);
  return { allow: read("allow"), deny: read("deny") };
}

function toCidr(network: string): string {
  return network.includes("/") ? network : `${network}/${isIPv6(network) ? 128 : 32}`;
}

/** Reads an optional list of addresses and networks. Throws ConfigError. */
export function readNetworks(section: ConfigSection, key: string): string[] {
  if (!hasField(section, key)) return [];
  return readList(section, key, (value, path) => {
    const network = rules.network.parse(value);
    if (network === undefined) {
      throw new ConfigError(`${path}: ${quoteValue(value)} is not accepted; give ${rules.network.expected}.`);
    }
    return network;
  });
}

/** Real networks need https, so that nobody on the way reads or changes what is sent. */
export function outboundPolicy({ environment, outbound }: Pick<Config, "environment" | "outbound">): AddressPolicy {
  return { allowsHttp: environment === "test", allow: outbound?.allow ?? [], deny: outbound?.deny ?? [] };
}
