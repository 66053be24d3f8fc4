import { sql } from "kysely";
import { compareSymbols, verifyChain } from "../../chain/verifyChain.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import { ChainMismatch } from "../../chain/providers.ts";
import type { ChainConfig } from "../../config/config.ts";
import { findRisks } from "../../config/operate/risks.ts";
import { readOpenRows, type OpenRows } from "../../health/openRows.ts";
import { sampleChains, type ChainSample } from "../../health/sampleChain.ts";
import { addMs } from "../../kernel/clock.ts";
import { formatUnits } from "../../kernel/units.ts";
import { isScanBehind } from "../../watch/behind.ts";
import type { World } from "../../world.ts";
import { blockTimeFindings } from "./blockTimeFindings.ts";
import { checkAgreement } from "./checkAgreement.ts";
import { checkBalances } from "./checkBalances.ts";
import { checkBridge } from "./checkBridge.ts";
import { checkFeeds } from "./checkFeeds.ts";
import { checkMinimums } from "./checkMinimums.ts";
import { checkRecovery } from "./checkRecovery.ts";
import { checkReplica } from "./checkReplica.ts";
import { checkRoles } from "./checkRoles.ts";
import { checkUnreadable } from "./checkUnreadable.ts";
import { databaseFindings } from "./database/databaseFindings.ts";
import type { Finding } from "./finding.ts";
import { depositTotalsCheck } from "../../deposit/checks.ts";
import { runChecks, type Check } from "../../ledger/check.ts";
import { settlementTotalsCheck } from "../../settlement/checks.ts";

// The checks of `tributary doctor`, on the chains and the database. They change nothing.

/** A transaction pending for longer has a fee that is too low, or its chain has stopped. */
const PENDING_TX_MS_MAX = 600_000;
const MISMATCHES_SHOWN_MAX = 5;

export async function runDoctorChecks(world: World): Promise<Finding[]> {
  const samples = new Map((await sampleChains(world)).map((sample) => [sample.chain.caip2, sample]));
  const chains = await Promise.all(
    world.config.chains.map((config) => checkChain(world, config, samples.get(config.caip2))),
  );
  return [
    ...riskFindings(world),
    ...databaseFindings(world.config),
    ...(await checkRoles(world)),
    ...(await checkReplica(world)),
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

async function checkChain(world: World, config: ChainConfig, sample: ChainSample | undefined): Promise<Finding[]> {
  if (sample === undefined) return [];
  const { chain, head } = sample;
  const watched = scanFinding(sample);
  try {
    const verdict = await verifyChain(config, chain);
    if (verdict === "unreachable" || head === undefined)
      return [watched, failFinding(`${config.name}: provider`, "no provider answers")];
    const [agreement, feeds, symbols] = await Promise.all([
      checkAgreement(world, config, chain),
      checkFeeds(config, chain),
      compareSymbols(config, chain),
    ]);
    return [
      { what: `${config.name}: configuration`, verdict: "ok", found: `matches the chain at block ${head.number}` },
      watched,
      ...symbols.map((found): Finding => ({ what: `${config.name}: symbols`, verdict: "warn", found })),
      ...blockTimeFindings(sample),
      ...agreement,
      ...feeds,
      ...gasFindings(sample),
    ];
  } catch (error) {
    if (error instanceof ChainMismatch || error instanceof ProviderFailed)
      return [watched, failFinding(`${config.name}: configuration`, error.message)];
    throw error;
  }
}

function gasFindings({ chain, config: { name, native }, gas }: ChainSample): Finding[] {
  const what = `${name}: gas`;
  if (chain.sender.payer === "")
    return [
      { what, verdict: "warn", found: "not checked: here is neither the key nor its address in the configuration" },
    ];
  if (gas === undefined) return [failFinding(what, "no provider tells the balance of the gas account")];
  const balance = `${formatUnits(gas.balance, native.decimals)} ${native.symbol} in ${chain.sender.payer}`;
  return [
    gas.balance > 0n
      ? { what, verdict: "ok", found: balance }
      : failFinding(what, `${balance}: settlements cannot be sent`),
    gas.isWithinCeiling
      ? { what: `${name}: gas price`, verdict: "ok", found: gas.price }
      : { what: `${name}: gas price`, verdict: "warn", found: `${gas.price}: settlements wait` },
  ];
}

/** Whether a process watches the chain, and how far it is behind its head. */
function scanFinding({ config: { name }, cursor, isScanned, lagBlocks, blockMs }: ChainSample): Finding {
  const what = `${name}: watched`;
  const isBehind = lagBlocks !== undefined && isScanBehind(lagBlocks, blockMs);
  const lagNote = isBehind ? `, scanned to block ${cursor?.number ?? 0n}, ${lagBlocks} blocks behind` : "";
  if (!isScanned) return failFinding(what, `no process has scanned it recently${lagNote}`);
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
  const open = await readOpenRows(world);
  const { rows } = await sql<{ failed: bigint; pending: bigint }>`
    select
      (select count(*) from settlement where status = 'failed') as failed,
      (select count(*) from outgoing_transaction where status = 'signed' and created_at < ${since}) as pending`.execute(
    world.db.root,
  );
  const countHeld = (wanted: OpenRows["kind"]) =>
    open.reduce((sum, { kind, status, count }) => sum + (kind === wanted && status === "held" ? count : 0), 0);
  return [
    countFinding("settlements held", countHeld("settlement")),
    countFinding("settlements failed", Number(rows[0]?.failed ?? 0n)),
    countFinding("deposits held", countHeld("deposit")),
    countFinding("transactions pending for over ten minutes", Number(rows[0]?.pending ?? 0n)),
  ];
}

function countFinding(what: string, count: number): Finding {
  return { what, verdict: count === 0 ? "ok" : "warn", found: String(count) };
}

function failFinding(what: string, found: string): Finding {
  return { what, verdict: "fail", found };
}
