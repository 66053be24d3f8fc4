import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils";
import type { Hex } from "@tributary/inbox/terms";
import { decodeUint } from "../abi.ts";
import type { RpcRequester } from "../rpc/rpcRequester.ts";
import type { VerifiedInbox } from "../parseInboxes.ts";
import { readBalance } from "../readBalances.ts";
import type { SignedBurn } from "./attestation.ts";
import { buildNonceCall, buildReceiptCall } from "./bridgeCalls.ts";
import { toMessageAccount } from "@tributary/inbox/burnMessage";
import { findRevertReason } from "./revertReason.ts";
import { readField } from "../readField.ts";

/** What a signed burn can still do on its settle chain. */
export type MintState =
  | { readonly kind: "receivable" }
  /** Somebody received it. `units` lie in the inbox and can be settled. */
  | { readonly kind: "received"; readonly units: bigint }
  /** Its last block has passed; Circle signs it again. */
  | { readonly kind: "expired" }
  | { readonly kind: "refused"; readonly reason: string };

const SETTLED_TOPIC = `0x${bytesToHex(keccak_256(utf8ToBytes("Settled(address,uint256,uint256)")))}`;
const EXPIRED = /expired/i;

/** Asks Circle's contract. `from`: the account that would send the transaction. */
export async function inspectMint(
  request: RpcRequester,
  inbox: VerifiedInbox,
  { signed, transmitter, from }: { signed: SignedBurn; transmitter: Hex; from: Hex },
): Promise<MintState> {
  const used = decodeUint(await request("eth_call", [buildNonceCall(transmitter, signed.burn.nonce), "latest"]));
  if (used === undefined) return { kind: "refused", reason: `Circle's transmitter is not at ${transmitter} here` };
  if (used !== 0n) {
    return { kind: "received", units: await readBalance(request, inbox.terms.settleToken, inbox.address) };
  }
  try {
    await request("eth_call", [{ from, ...buildReceiptCall(transmitter, signed) }, "latest"]);
    return { kind: "receivable" };
  } catch (error) {
    const reason = findRevertReason(error);
    if (reason === undefined) throw error;
    return EXPIRED.test(reason) ? { kind: "expired" } : { kind: "refused", reason };
  }
}

/** The inbox that a burn pays, among those of the input. */
export function findRecipient({ burn }: SignedBurn, inboxes: readonly VerifiedInbox[]): VerifiedInbox | undefined {
  return inboxes.find(({ address }) => toMessageAccount(address) === burn.recipient);
}

/** What a transaction settled of an inbox, fee included, by the hub's event. */
export async function readSettledUnits(
  request: RpcRequester,
  { address, hub }: Pick<VerifiedInbox, "address" | "hub">,
  txHash: Hex,
): Promise<bigint> {
  const receipt = await request("eth_getTransactionReceipt", [txHash]);
  const logs = readField(receipt, "logs");
  const entries: unknown[] = Array.isArray(logs) ? logs : [];
  const found = entries.find((log) => {
    const topics = readField(log, "topics");
    const [topic, owner] = (Array.isArray(topics) ? topics : []) as unknown[];
    const isOfHub = String(readField(log, "address")).toLowerCase() === hub.address;
    return isOfHub && topic === SETTLED_TOPIC && owner === toMessageAccount(address);
  });
  return decodeUint(readField(found, "data")) ?? 0n;
}
