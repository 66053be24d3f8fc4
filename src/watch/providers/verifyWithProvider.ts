import { ProviderFailed, type ChainReader, type TransactionProof } from "../../chain/reader.ts";
import { filterInboxTransfers, type MovementRow } from "../movement.ts";

// Verifies one movement with one provider: the current block at its height, the transaction's proof, and the block's
// transfers of the inbox. A proof of a replaced block fails all three.

export type ProviderVerdict = {
  /**
   * `lacks`: the provider does not have the block yet, so it neither confirms nor denies; typical of a lagging node.
   */
  verdict: "confirms" | "denies" | "lacks";
  /** The difference, where it denies. */
  reason: "other_block" | "not_mined" | "mined_elsewhere" | "reverted" | "no_transfer" | "bridged" | null;
  /** The provider's heights; -1 for a tag without an answer. */
  latest: bigint;
  safe: bigint;
  finalized: bigint;
  /**
   * How much older than its newest block the movement's block is, by its clock; undefined where it does not have the
   * block.
   */
  ageS?: number | undefined;
};

export type MovementFinding = Pick<ProviderVerdict, "verdict" | "reason"> & {
  /** The time of the confirmed movement's block. */
  timestampS?: number | undefined;
};

const CONFIRMED: MovementFinding = { verdict: "confirms", reason: null };
const MISSING: MovementFinding = { verdict: "lacks", reason: null };

/**
 * Verifies a movement into an inbox with one provider, in a few requests. Throws ProviderFailed when an answer is
 * missing.
 */
export async function verifyWithProvider(
  reader: ChainReader,
  movement: MovementRow,
  tags: readonly ("safe" | "finalized")[],
): Promise<ProviderVerdict> {
  const head = await reader.head("latest");
  const latest = head.number;
  const [safe, finalized] = await Promise.all([
    tags.includes("safe") ? fetchTagNumber(reader, "safe") : -1n,
    tags.includes("finalized") ? fetchTagNumber(reader, "finalized") : -1n,
  ]);
  const { timestampS, ...finding } = latest < movement.block_number ? MISSING : await verifyMovement(reader, movement);
  const ageS = timestampS === undefined || head.timestampS === undefined ? undefined : head.timestampS - timestampS;
  return { ...finding, latest, safe, finalized, ...(ageS !== undefined && { ageS }) };
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
  const [finding = MISSING] = await findingsOf(reader, [movement]);
  return finding;
}

/**
 * Verifies the movements of one transaction, token and block with one provider, in three requests. Returns a finding
 * for each. Throws ProviderFailed when an answer is missing.
 */
export async function verifyLegsWithProvider(
  reader: ChainReader,
  legs: readonly MovementRow[],
): Promise<MovementFinding[]> {
  return findingsOf(reader, legs);
}

async function findingsOf(reader: ChainReader, movements: readonly MovementRow[]): Promise<MovementFinding[]> {
  const [first] = movements;
  if (first === undefined) return [];
  const ofAll = (finding: MovementFinding) => movements.map(() => finding);
  const block = await reader.block({ number: first.block_number });
  if (!block) return ofAll(MISSING);
  if (block.hash !== first.block_hash) return ofAll(createDenial("other_block"));
  const scope = { blockHash: first.block_hash, blockNumber: first.block_number };
  const inboxes = [...new Set(movements.map(({ inbox }) => inbox))];
  const [[proof], transfers] = await Promise.all([
    reader.proofs([first.chain_tx]),
    reader.transfers(scope, [first.token], inboxes),
  ]);
  if (!proof) return ofAll(createDenial("not_mined"));
  if (proof.blockHash !== first.block_hash) return ofAll(createDenial("mined_elsewhere"));
  if (!proof.succeeded) return ofAll(createDenial("reverted"));
  const known = filterInboxTransfers(transfers, (address) => inboxes.includes(address));
  const isShown = (movement: MovementRow) =>
    known.some(
      (seen) =>
        seen.direction === movement.direction &&
        seen.inbox === movement.inbox &&
        seen.chainTx === movement.chain_tx &&
        proof.identityAt(seen.place) === movement.identity &&
        seen.token === movement.token &&
        seen.counterparty === movement.counterparty &&
        seen.amountUnits === movement.amount_units,
    );
  const confirmed = { ...CONFIRMED, timestampS: block.timestampS };
  return movements.map((movement) => {
    if (!isShown(movement)) return createDenial("no_transfer");
    const mayBeGiven = movement.explained_by === null && movement.counterparty === reader.mintSender;
    return mayBeGiven && isGiven(proof, movement) ? createDenial("bridged") : confirmed;
  });
}

/**
 * Whether a bridge gave what the movement's own inbox burned. A provider that leaves out the bridge's log shows it
 * as a payment, which counted already where it was burned.
 */
function isGiven({ crossings }: TransactionProof, { inbox, identity }: MovementRow): boolean {
  const given = crossings?.() ?? [];
  return given.some((each) => each.direction === "in" && each.identity === identity && each.sender === inbox);
}

function createDenial(reason: NonNullable<ProviderVerdict["reason"]>): MovementFinding {
  return { verdict: "denies", reason };
}
