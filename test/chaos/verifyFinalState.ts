import { parseAbiItem, type Hex } from "viem";
import { runLedgerChecks } from "../../src/audit/runLedgerChecks.ts";
import type { Db } from "../../src/db/database.ts";
import type { TestChain } from "../support/chain.ts";
import type { AcknowledgedIntent } from "./merchants.ts";

// Compares the database with the chain at the end. The chain is the reference.

export type Findings = {
  /** Acknowledged intents without a row, uncounted payments, undelivered counted units. */
  lost: string[];
  /** Two intents for one create, counted units without a transfer, repeated deliveries. */
  duplicated: string[];
  ledger: string[];
};

const TRANSFER = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)");
const BPS = 10_000n;

type TokenTransfer = { chainTx: string; from: string; to: string; units: bigint };

export async function verifyFinalState(
  db: Db,
  { chain, acknowledged }: { chain: TestChain; acknowledged: readonly AcknowledgedIntent[] },
): Promise<Findings> {
  const findings: Findings = { lost: [], duplicated: [], ledger: [] };
  const onChain = String(chain.chainId);
  const intents = await db.root
    .selectFrom("intent")
    .selectAll()
    .where("payout_chain_reference", "=", onChain)
    .execute();
  const intentAt = new Map(intents.map((intent) => [intent.id, intent]));
  for (const { intentId, inbox } of acknowledged) {
    const exists = intentAt.get(intentId)?.inbox_address === inbox.toLowerCase();
    if (!exists) findings.lost.push(`intent ${intentId} was acknowledged and is missing`);
  }
  for (const [reference, sameReference] of Map.groupBy(intents, (intent) => intent.merchant_reference)) {
    if (sameReference.length > 1) findings.duplicated.push(`${reference} has ${sameReference.length} intents`);
  }
  const transfers = await transfersOf(chain);
  const into = Map.groupBy(transfers, (transfer) => transfer.to);
  const outOf = Map.groupBy(transfers, (transfer) => transfer.from);
  for (const intent of intents) {
    const received = into.get(intent.inbox_address) ?? [];
    const sent = outOf.get(intent.inbox_address) ?? [];
    const counted = await db.root
      .selectFrom("deposit")
      .select(["chain_tx", "counted_units"])
      .where("intent_id", "=", intent.id)
      .where("status", "=", "counted")
      .execute();
    const countedTransfers = counted.map((deposit) => `${deposit.chain_tx} ${deposit.counted_units}`);
    const chainTransfers = received.map(({ chainTx, units }) => `${chainTx} ${units}`);
    findings.lost.push(
      ...subtractList(chainTransfers, countedTransfers).map(
        (transfer) => `${transfer} into ${intent.id} is not counted`,
      ),
    );
    findings.duplicated.push(
      ...subtractList(countedTransfers, chainTransfers).map((deposit) => `${deposit} of ${intent.id} has no transfer`),
    );
    const [inUnits, outUnits] = [sum(received), sum(sent)];
    const feeUnits = sum(sent.filter(({ to }) => to === intent.fee_recipient));
    const netUnits = sum(sent.filter(({ to }) => to === intent.payout_wallet));
    if (outUnits < inUnits) findings.lost.push(`${inUnits - outUnits} are still in the inbox of ${intent.id}`);
    if (netUnits + feeUnits !== outUnits) findings.lost.push(`${intent.id} paid another address`);
    if (feeUnits > (inUnits * BigInt(intent.fee_bps)) / BPS)
      findings.duplicated.push(`${intent.id} paid an excessive fee`);
    const isBooked =
      intent.settled_units === outUnits && intent.fee_units === feeUnits && intent.net_units === netUnits;
    if (!isBooked)
      findings.lost.push(`${intent.id} shows ${intent.settled_units} settled, but ${outUnits} left its inbox`);
  }
  findings.ledger.push(
    ...(await runLedgerChecks(db)).map(({ check, rows }) => `${check}: ${JSON.stringify(rows, stringifyBigints)}`),
  );
  return findings;
}

/** Counts intents whose money is not fully counted and swept, of all chains or of one. */
export async function countUnsettled(db: Db, chain?: Pick<TestChain, "chainId">): Promise<number> {
  const rows = await db.root
    .selectFrom("intent")
    .$if(chain !== undefined, (query) => query.where("payout_chain_reference", "=", String(chain?.chainId)))
    .select(["received_units", "counted_units", "settled_units", "pending_count"])
    .execute();
  const open = rows.filter(
    (row) =>
      row.settled_units !== row.received_units || row.counted_units !== row.received_units || row.pending_count > 0,
  );
  return open.length;
}

async function transfersOf(chain: TestChain): Promise<TokenTransfer[]> {
  const logs = await chain.client.getLogs({
    address: chain.usdc.address,
    event: TRANSFER,
    fromBlock: 0n,
    strict: true,
  });
  const normalize = (address: Hex) => address.toLowerCase();
  return logs
    .map(({ transactionHash: chainTx, args }) => ({
      chainTx,
      from: normalize(args.from),
      to: normalize(args.to),
      units: args.value,
    }))
    .filter(({ units }) => units > 0n);
}

/** Multiset difference: the first list without the items of the second. */
function subtractList(one: readonly string[], other: readonly string[]): string[] {
  const rest = [...other];
  return one.filter((item) => {
    const index = rest.indexOf(item);
    if (index >= 0) rest.splice(index, 1);
    return index < 0;
  });
}

function sum(transfers: readonly TokenTransfer[]): bigint {
  return transfers.reduce((total, { units }) => total + units, 0n);
}

function stringifyBigints(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
