import { parseAbiItem, type Hex } from "viem";
import { runLedgerChecks } from "../../src/audit/runLedgerChecks.ts";
import type { Db } from "../../src/db/database.ts";
import type { TestChain } from "../support/chain.ts";
import type { AcknowledgedIntent } from "./merchants.ts";

// What the chain says in the end against what the database says. The chain is right.

export type Findings = {
  /** Acknowledged and not there; paid and not counted; counted and not delivered. */
  lost: string[];
  /** Made twice for one wish, counted without or beyond a transfer, delivered more than once. */
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
  const intents = await db.root.selectFrom("intent").selectAll().execute();
  const intentAt = new Map(intents.map((intent) => [intent.id, intent]));
  for (const { intentId, inbox } of acknowledged) {
    const isThere = intentAt.get(intentId)?.inbox_address === inbox.toLowerCase();
    if (!isThere) findings.lost.push(`intent ${intentId} was acknowledged and is not there`);
  }
  for (const [reference, wished] of Map.groupBy(intents, (intent) => intent.merchant_reference)) {
    if (wished.length > 1) findings.duplicated.push(`${reference} made ${wished.length} intents`);
  }
  const transfers = await transfersOf(chain);
  const into = Map.groupBy(transfers, (transfer) => transfer.to);
  const outOf = Map.groupBy(transfers, (transfer) => transfer.from);
  for (const intent of intents) {
    const received = into.get(intent.inbox_address) ?? [];
    const left = outOf.get(intent.inbox_address) ?? [];
    const counted = await db.root
      .selectFrom("deposit")
      .select(["chain_tx", "counted_units"])
      .where("intent_id", "=", intent.id)
      .where("status", "=", "counted")
      .execute();
    const told = counted.map((deposit) => `${deposit.chain_tx} ${deposit.counted_units}`);
    const seen = received.map(({ chainTx, units }) => `${chainTx} ${units}`);
    findings.lost.push(...subtractList(seen, told).map((transfer) => `${transfer} into ${intent.id} is not counted`));
    findings.duplicated.push(...subtractList(told, seen).map((deposit) => `${deposit} of ${intent.id} is on no chain`));
    const [inUnits, outUnits] = [sum(received), sum(left)];
    const feeUnits = sum(left.filter(({ to }) => to === intent.fee_recipient));
    const netUnits = sum(left.filter(({ to }) => to === intent.payout_wallet));
    if (outUnits < inUnits) findings.lost.push(`${inUnits - outUnits} still lie in the inbox of ${intent.id}`);
    if (netUnits + feeUnits !== outUnits) findings.lost.push(`${intent.id} paid somebody else`);
    if (feeUnits > (inUnits * BigInt(intent.fee_bps)) / BPS)
      findings.duplicated.push(`${intent.id} paid too much of a fee`);
    const isBooked =
      intent.settled_units === outUnits && intent.fee_units === feeUnits && intent.net_units === netUnits;
    if (!isBooked) findings.lost.push(`${intent.id} says ${intent.settled_units}, and ${outUnits} left its inbox`);
  }
  findings.ledger.push(
    ...(await runLedgerChecks(db)).map(({ check, rows }) => `${check}: ${JSON.stringify(rows, stringifyBigints)}`),
  );
  return findings;
}

/** Inboxes whose money is not all counted and swept yet. */
export async function countUnsettled(db: Db): Promise<number> {
  const rows = await db.root
    .selectFrom("intent")
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
  const stored = (address: Hex) => address.toLowerCase();
  return logs
    .map(({ transactionHash: chainTx, args }) => ({
      chainTx,
      from: stored(args.from),
      to: stored(args.to),
      units: args.value,
    }))
    .filter(({ units }) => units > 0n);
}

/** What the first list has more often than the second. */
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
