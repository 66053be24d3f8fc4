import { sql } from "kysely";
import { verifyChain } from "../../chain/verifyChain.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import { ChainMismatch } from "../../chain/providers.ts";
import type { ChainConfig } from "../../config/config.ts";
import { findRisks } from "../../config/operate/risks.ts";
import { addMs } from "../../kernel/clock.ts";
import { formatUnits } from "../../kernel/units.ts";
import { readScannerHealth } from "../../watch/scannerHealth.ts";
import { listCursors } from "../../watch/store/store.ts";
import type { World } from "../../world.ts";
import { blocksIn, type BlockSpan } from "../../watch/blockTime.ts";
import { checkBlockTime } from "./checkBlockTime.ts";
import { checkAgreement } from "./checkAgreement.ts";
import { checkBalances } from "./checkBalances.ts";
import { checkBridge } from "./checkBridge.ts";
import { checkFeeds } from "./checkFeeds.ts";
import { checkMinimums } from "./checkMinimums.ts";
import { checkRecovery } from "./checkRecovery.ts";
import { checkUnreadable } from "./checkUnreadable.ts";
import type { Finding } from "./finding.ts";
import { depositTotalsCheck } from "../../deposit/checks.ts";
import { runChecks, type Check } from "../../ledger/check.ts";
import { settlementTotalsCheck } from "../../settlement/checks.ts";

// The checks of `tributary doctor`, on the chains and the database. They change nothing.

/** A transaction pending for longer has a fee that is too low, or its chain has stopped. */
const PENDING_TX_MS_MAX = 600_000;
const MISMATCHES_SHOWN_MAX = 5;
/** A larger lag follows an outage, or a provider that is too slow. At least so many blocks: one may be late. */
const BEHIND: BlockSpan = { ms: 60_000, min: 10, max: 1_000 };

export async function runDoctorChecks(world: World): Promise<Finding[]> {
  const health = await readScannerHealth(world);
  const cursorNumbers = new Map((await listCursors(world.db)).map(({ chain, number }) => [chain, number]));
  const chains = await Promise.all(
    world.config.chains.map((config) => {
      const isWatched = health.get(config.caip2) === true;
      return checkChain(world, config, { isWatched, cursorNumber: cursorNumbers.get(config.caip2) });
    }),
  );
  return [
    ...riskFindings(world),
    ...chains.flat(),
    ...(await checkBridge(world)),
    ...checkMinimums(world),
    ...(await checkBalances(world)),
    ...(await checkUnreadable(world)),
    ...(await checkRecovery(world)),
    ...(await checkSums(world)),
    ...(await checkStuck(world)),
  ];
}

/** Settings that live payments need the operator's consent for. */
function riskFindings({ config }: World): Finding[] {
  return findRisks(config).map(({ where, problem, remedy }) => ({
    what: where,
    verdict: "warn",
    found: `${problem}: ${remedy}`,
  }));
}

type ScanState = { isWatched: boolean; cursorNumber: bigint | undefined };

async function checkChain(world: World, config: ChainConfig, scan: ScanState): Promise<Finding[]> {
  const chain = world.chains.get(config.caip2);
  if (chain === undefined) return [];
  const behindMax = blocksIn(world, chain, BEHIND);
  const watched = scanFinding(config, { ...scan, behindMax });
  try {
    const verdict = await verifyChain(config, chain);
    if (verdict === "unreachable") return [watched, failFinding(`${config.name}: provider`, "no provider answers")];
    const [head, feeUnits, fees] = await Promise.all([
      chain.providers.head("latest"),
      chain.sender.feeBalance(),
      chain.sender.feeStatus(),
    ]);
    const [agreement, feeds] = await Promise.all([checkAgreement(world, config, chain), checkFeeds(config, chain)]);
    const gas = `${formatUnits(feeUnits, config.native.decimals)} ${config.native.symbol} in ${chain.sender.payer}`;
    return [
      {
        what: `${config.name}: configuration`,
        verdict: "ok",
        found: `matches the chain at block ${head.number}`,
      },
      scanFinding(config, { ...scan, behindMax }, head.number),
      ...(await checkBlockTime(config, chain)),
      ...agreement,
      ...feeds,
      feeUnits > 0n
        ? { what: `${config.name}: gas`, verdict: "ok", found: gas }
        : failFinding(`${config.name}: gas`, `${gas}: settlements cannot be sent`),
      fees.isWithinCeiling
        ? { what: `${config.name}: gas price`, verdict: "ok", found: fees.text }
        : { what: `${config.name}: gas price`, verdict: "warn", found: `${fees.text}: settlements wait` },
    ];
  } catch (error) {
    if (error instanceof ChainMismatch || error instanceof ProviderFailed)
      return [watched, failFinding(`${config.name}: configuration`, error.message)];
    throw error;
  }
}

/** Whether a process watches the chain, and how far it is behind `head`. */
function scanFinding(
  { name }: ChainConfig,
  { isWatched, cursorNumber, behindMax }: ScanState & { behindMax: bigint },
  head?: bigint,
): Finding {
  const what = `${name}: watched`;
  const lag = head === undefined || cursorNumber === undefined ? 0n : head - cursorNumber;
  const isBehind = lag > behindMax;
  const lagNote = isBehind ? `, scanned to block ${cursorNumber}, ${lag} blocks behind` : "";
  if (!isWatched) return failFinding(what, `no process has scanned it recently${lagNote}`);
  return { what, verdict: isBehind ? "warn" : "ok", found: `by a running process${lagNote}` };
}

/** The totals of each intent must equal the sums of its deposits and settlements. */
async function checkSums(world: World): Promise<Finding[]> {
  const violations = await runChecks(world.db, [depositTotalsCheck, settlementTotalsCheck]);
  const mismatches = ({ name }: Check) =>
    (violations.find(({ check }) => check === name)?.rows ?? [])
      .map(({ intent }) => ({ id: String(intent) }))
      .slice(0, MISMATCHES_SHOWN_MAX);
  return [
    sumFinding("sums: counted deposits", mismatches(depositTotalsCheck)),
    sumFinding("sums: landed settlements", mismatches(settlementTotalsCheck)),
  ];
}

function sumFinding(what: string, mismatches: readonly { id: string }[]): Finding {
  if (mismatches.length === 0) return { what, verdict: "ok", found: "match the intents" };
  return failFinding(what, `differ from these intents: ${mismatches.map(({ id }) => id).join(", ")}`);
}

/** Counts rows that need the operator, and transactions that have been pending for too long. */
async function checkStuck(world: World): Promise<Finding[]> {
  const since = addMs(world.clock.now(), -PENDING_TX_MS_MAX);
  const { rows } = await sql<{
    held_settlements: bigint;
    failed_settlements: bigint;
    held_deposits: bigint;
    old_transactions: bigint;
  }>`
    select
      (select count(*) from settlement where status = 'held') as held_settlements,
      (select count(*) from settlement where status = 'failed') as failed_settlements,
      (select count(*) from deposit where status = 'held') as held_deposits,
      (select count(*) from outgoing_transaction where status = 'signed' and created_at < ${since}) as old_transactions`.execute(
    world.db.root,
  );
  const [row] = rows;
  return [
    countFinding("settlements held", row?.held_settlements),
    countFinding("settlements failed", row?.failed_settlements),
    countFinding("deposits held", row?.held_deposits),
    countFinding("transactions pending for over ten minutes", row?.old_transactions),
  ];
}

function countFinding(what: string, count: bigint | undefined): Finding {
  return { what, verdict: count === undefined || count === 0n ? "ok" : "warn", found: String(count ?? 0n) };
}

function failFinding(what: string, found: string): Finding {
  return { what, verdict: "fail", found };
}
