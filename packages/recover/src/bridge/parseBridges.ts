import type { CctpV2Chain } from "@tributary/inbox/cctpV2Chains";
import { parseAddress } from "@tributary/inbox/checksum";
import { InboxInputError } from "../parseInboxes.ts";

const BRIDGE_FIELDS = ["chainId", "domain", "messenger", "transmitter", "usdc"] as const;
const BRIDGE_FORM = `{${BRIDGE_FIELDS.map((field) => `"${field}": …`).join(", ")}}`;

/** Parses Circle's contracts on further chains from a JSON list. Throws InboxInputError. */
export function parseBridges(text: string): CctpV2Chain[] {
  const list = parseJson(text);
  if (!Array.isArray(list)) throw new InboxInputError(`it must be a list of ${BRIDGE_FORM}.`);
  return list.map((entry: unknown, index) => parseBridge(entry, `entry ${index + 1}`));
}

function parseBridge(entry: unknown, where: string): CctpV2Chain {
  const fields = (typeof entry === "object" ? entry : null) ?? {};
  const unknown = Object.keys(fields).find((field) => !BRIDGE_FIELDS.some((known) => known === field));
  if (unknown !== undefined) throw new InboxInputError(`${where}: ${unknown} is unknown; give ${BRIDGE_FORM}.`);
  const readNumber = (field: "chainId" | "domain") => {
    const value: unknown = Reflect.get(fields, field);
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
    throw new InboxInputError(`${where}: ${field} must be a whole number.`);
  };
  const readContract = (field: "messenger" | "transmitter" | "usdc") => {
    const address = parseAddress(Reflect.get(fields, field));
    if (address === undefined) throw new InboxInputError(`${where}: ${field} must be an address.`);
    return address;
  };
  return {
    chainId: BigInt(readNumber("chainId")),
    domain: readNumber("domain"),
    messenger: readContract("messenger"),
    transmitter: readContract("transmitter"),
    usdc: readContract("usdc"),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InboxInputError("it is not JSON.");
  }
}
