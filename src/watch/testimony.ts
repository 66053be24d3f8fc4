import { ProviderFailed, type ChainDriver } from "../chain/driver.ts";
import { candidatesOf, type MovementRow } from "./movement.ts";

// What one provider says of one movement when it is asked for that alone. It is asked for the block at that height as it stands now, for the
// transaction's own receipt and for the transfers of that block that touch the inbox: an old receipt of a replaced block passes none of them.

export type Testimony = {
  /** `lacks`: it does not know so far, which is neither; a node that lags says this. */
  verdict: "confirms" | "denies" | "lacks";
  /** What differs, where it denies. */
  because: "other_block" | "no_receipt" | "other_receipt" | "reverted" | "no_transfer" | null;
  /** How far it knows the chain, and how final it calls it; -1 where it says nothing. */
  latest: bigint;
  safe: bigint;
  finalized: bigint;
};

type Finding = Pick<Testimony, "verdict" | "because">;

const CONFIRMS: Finding = { verdict: "confirms", because: null };
const LACKS: Finding = { verdict: "lacks", because: null };

/** Asks one provider for one movement into an inbox, in a handful of questions. Throws ProviderFailed when it does not answer wholly. */
export async function testify(
  driver: ChainDriver,
  movement: MovementRow,
  tags: readonly ("safe" | "finalized")[],
): Promise<Testimony> {
  const latest = (await driver.head("latest")).number;
  const [safe, finalized] = await Promise.all([
    tags.includes("safe") ? reach(driver, "safe") : -1n,
    tags.includes("finalized") ? reach(driver, "finalized") : -1n,
  ]);
  const finding = latest < movement.block_number ? LACKS : await examine(driver, movement);
  return { ...finding, latest, safe, finalized };
}

async function reach(driver: ChainDriver, tag: "safe" | "finalized"): Promise<bigint> {
  try {
    return (await driver.head(tag)).number;
  } catch (error) {
    if (error instanceof ProviderFailed && (error.kind === "unknown_block" || error.kind === "bad_answer")) return -1n;
    throw error;
  }
}

async function examine(driver: ChainDriver, movement: MovementRow): Promise<Finding> {
  const block = await driver.block({ number: movement.block_number });
  if (!block) return LACKS;
  if (block.hash !== movement.block_hash) return denies("other_block");
  const [[receipt], transfers] = await Promise.all([
    driver.positions([movement.chain_tx]),
    driver.transfers({ blockHash: movement.block_hash }, [movement.token], [movement.inbox]),
  ]);
  if (!receipt) return denies("no_receipt");
  if (receipt.blockHash !== movement.block_hash) return denies("other_receipt");
  if (!receipt.succeeded) return denies("reverted");
  const isThere = candidatesOf(transfers, (address) => address === movement.inbox).some(
    (seen) =>
      seen.direction === movement.direction &&
      seen.chainTx === movement.chain_tx &&
      seen.logIndex - receipt.logIndexFirst === movement.position &&
      seen.token === movement.token &&
      seen.counterparty === movement.counterparty &&
      seen.amountUnits === movement.amount_units,
  );
  return isThere ? CONFIRMS : denies("no_transfer");
}

function denies(because: NonNullable<Testimony["because"]>): Finding {
  return { verdict: "denies", because };
}
