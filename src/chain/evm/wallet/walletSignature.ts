import { recoverMessageAddress } from "viem";
import type { WalletSignatures } from "../../addressFormat.ts";

/**
 * A wallet with a private key signs a text as `personal_sign` does (EIP-191). A wallet that is a contract signs
 * otherwise.
 */
export const evmSignatures: WalletSignatures = {
  async isSigned({ wallet, text, signature }) {
    try {
      const signer = await recoverMessageAddress({ message: text, signature: `0x${signature}` });
      return signer.toLowerCase() === wallet;
    } catch {
      return false;
    }
  },
};
