import { createHash } from "node:crypto";
import { base32 } from "../kernel/ids.ts";

const ID_BYTES = 16;
const ID_CHARACTERS = 26;

/** What identifies a transfer into an inbox, in one installation. */
export type IdentifiedTransfer = {
  /** The 32 bytes of the installation, in hex. */
  deployment: string;
  chain: string;
  chain_tx: string;
  identity: string;
  inbox: string;
  token: string;
};

/**
 * D4b: the id of a deposit follows from its transfer. A transfer that is found again after a restore has the id by
 * which the merchant has credited it, also where it was dust once and has a row of its own now. The installation's
 * bytes keep the ids of others unknown.
 */
export function depositId(transfer: IdentifiedTransfer): string {
  const { deployment, chain, chain_tx, identity, inbox, token } = transfer;
  const digest = createHash("sha256").update([deployment, chain, chain_tx, identity, inbox, token].join("\n")).digest();
  return `dep_${base32(digest.subarray(0, ID_BYTES), ID_CHARACTERS)}`;
}
