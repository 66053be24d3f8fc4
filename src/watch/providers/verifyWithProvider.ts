import { ProviderFailed, type ChainReader, type TransactionProof } from "../../chain/reader.ts";
import type { World } from "../../world.ts";
import { keepOwnCrossings } from "../inboxes/burningInboxes.ts";
import { assignIdentities, filterInboxTransfers, toTransfer, type MovementRow } from "../movement.ts";

// Verifies one movement with one provider: the current block at its height, the transaction's proof, and the block's
// transfers of the inbox. A proof of a replaced block fails all three.

type VerifyWorld = Pick<World, "db" | "memory" | "clock">;

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
  world: VerifyWorld,
  reader: ChainReader,
  { movement, tags = [] }: { movement: MovementRow; tags?: readonly ("safe" | "finalized")[] },
): Promise<ProviderVerdict> {
  const head = await reader.head("latest");
  const latest = head.number;
  const [safe, finalized] = await Promise.all([
    tags.includes("safe") ? fetchTagNumber(reader, "safe") : -1n,
    tags.includes("finalized") ? fetchTagNumber(reader, "finalized") : -1n,
  ]);
  const { timestampS, ...finding } =
    latest < movement.block_number ? MISSING : await verifyMovement(world, reader, movement);
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

async function verifyMovement(
  world: VerifyWorld,
  reader: ChainReader,
  movement: MovementRow,
): Promise<MovementFinding> {
  const { findings, proof } = await findingsOf(reader, [movement]);
  const [finding = MISSING] = findings;
  const isConfirmed = finding.verdict === "confirms" && proof !== undefined;
  return isConfirmed && (await isGiven(world, reader, { movement, proof })) ? createDenial("bridged") : finding;
}

/**
 * Verifies the movements of one transaction, token and block with one provider, in three requests. Returns a finding
 * for each. Throws ProviderFailed when an answer is missing.
 */
export async function verifyLegsWithProvider(
  reader: ChainReader,
  legs: readonly MovementRow[],
): Promise<MovementFinding[]> {
  return (await findingsOf(reader, legs)).findings;
}

type Findings = { findings: MovementFinding[]; proof?: TransactionProof };

async function findingsOf(reader: ChainReader, movements: readonly MovementRow[]): Promise<Findings> {
  const [first] = movements;
  if (first === undefined) return { findings: [] };
  const ofAll = (finding: MovementFinding) => ({ findings: movements.map(() => finding) });
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
  const findings = movements.map((movement) => (isShown(movement) ? confirmed : createDenial("no_transfer")));
  return { findings, proof };
}

/**
 * Whether a bridge gave what an inbox of the movement's intent burned. A provider that leaves out the bridge's log shows
 * it as a payment, which counted already where it was burned.
 */
async function isGiven(
  world: VerifyWorld,
  { caip2, mintSender }: ChainReader,
  { movement, proof }: { movement: MovementRow; proof: TransactionProof },
): Promise<boolean> {
  if (movement.explained_by !== null || movement.counterparty !== mintSender) return false;
  const located = assignIdentities([toTransfer(movement)], [proof], mintSender);
  return (await keepOwnCrossings(world, caip2, located)).some(({ crossing }) => crossing !== undefined);
}

function createDenial(reason: NonNullable<ProviderVerdict["reason"]>): MovementFinding {
  return { verdict: "denies", reason };
}
