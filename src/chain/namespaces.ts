import type { Namespace } from "../kernel/caip.ts";
import type { AddressFormat, WalletSignatures } from "./addressFormat.ts";
import { evmAddresses } from "./evm/address.ts";
import { evmSignatures } from "./evm/wallet/walletSignature.ts";
import { solanaAddresses } from "./solana/address.ts";
import { solanaSignatures } from "./solana/wallet/walletSignature.ts";

const formats: Readonly<Record<Namespace, AddressFormat>> = { eip155: evmAddresses, solana: solanaAddresses };

/** The address format of a namespace. */
export function addressFormatOf(namespace: Namespace): AddressFormat {
  return formats[namespace];
}

const signatures: Readonly<Record<Namespace, WalletSignatures>> = { eip155: evmSignatures, solana: solanaSignatures };

/** How wallets of a namespace sign a text. */
export function walletSignaturesOf(namespace: Namespace): WalletSignatures {
  return signatures[namespace];
}
