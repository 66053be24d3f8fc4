import type { Namespace } from "../kernel/caip.ts";
import type { AddressFormat } from "./addressFormat.ts";
import { evmAddresses } from "./evm/address.ts";
import { solanaAddresses } from "./solana/address.ts";

const formats: Readonly<Record<Namespace, AddressFormat>> = { eip155: evmAddresses, solana: solanaAddresses };

/** The address format of a namespace. */
export function addressFormatOf(namespace: Namespace): AddressFormat {
  return formats[namespace];
}
