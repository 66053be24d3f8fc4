import { ProviderFailed, type ChainReader } from "../../chain/reader.ts";
import { filterInboxTransfers, type MovementRow } from "../movement.ts";

// Verifies one movement with one provider: the current block at its height, the transaction's proof, and the block's transfers of the
// inbox. A proof of a replaced block fails all three.

export type ProviderVerdict = {
  /** `lacks`: the provider does not have the block yet, so it neither confirms nor denies; typical of a lagging node. */
  verdict: "confirms" | "denies" | "lacks";
  /** The difference, where it denies. */
  reason: "other_block" | "not_mined" | "mined_elsewhere" | "reverted" | "no_transfer" | null;
  /** The provider's heights; -1 for a tag without an answer. */
  latest: bigint;
  safe: bigint;
  finalized: bigint;
};

type MovementFinding = Pick<ProviderVerdict, "verdict" | "reason">;

const CONFIRMED: MovementFinding = { verdict: "confirms", reason: null };
const MISSING: MovementFinding = { verdict: "lacks", reason: null };

/** Verifies a movement into an inbox with one provider, in a few requests. Throws ProviderFailed when an answer is missing. */
export async function verifyWithProvider(
  reader: ChainReader,
  movement: MovementRow,
  tags: readonly ("safe" | "finalized")[],
): Promise<ProviderVerdict> {
  const latest = (await reader.head("latest")).number;
  const [safe, finalized] = await Promise.all([
    tags.includes("safe") ? fetchTagNumber(reader, "safe") : -1n,
    tags.includes("finalized") ? fetchTagNumber(reader, "finalized") : -1n,
  ]);
  const finding = latest < movement.block_number ? MISSING : await verifyMovement(reader, movement);
  return { ...finding, latest, safe, finalized };
}

async function fetchTagNumber(reader: ChainReader, tag: "safe" | "finalized"): Promise<bigint> {
  try {
    return (await reader.head(tag)).number;
  } catch (error) {
    if (error instanceof ProviderFailed && (error.kind === "unknown_block" || error.kind === "bad_answer")) return -1n;
    throw error;
  }
}

async function verifyMovement(reader: ChainReader, movement: MovementRow): Promise<MovementFinding> {
  const block = await reader.block({ number: movement.block_number });
  if (!block) return MISSING;
  if (block.hash !== movement.block_hash) return createDenial("other_block");
  const scope = { blockHash: movement.block_hash, blockNumber: movement.block_number };
  const [[proof], transfers] = await Promise.all([
    reader.proofs([movement.chain_tx]),
    reader.transfers(scope, [movement.token], [movement.inbox]),
  ]);
  if (!proof) return createDenial("not_mined");
  if (proof.blockHash !== movement.block_hash) return createDenial("mined_elsewhere");
  if (!proof.succeeded) return createDenial("reverted");
  const isThere = filterInboxTransfers(transfers, (address) => address === movement.inbox).some(
    (seen) =>
      seen.direction === movement.direction &&
      seen.chainTx === movement.chain_tx &&
      proof.identityAt(seen.place) === movement.identity &&
      seen.token === movement.token &&
      seen.counterparty === movement.counterparty &&
      seen.amountUnits === movement.amount_units,
  );
  return isThere ? CONFIRMED : createDenial("no_transfer");
}

function createDenial(reason: NonNullable<ProviderVerdict["reason"]>): MovementFinding {
  return { verdict: "denies", reason };
}
