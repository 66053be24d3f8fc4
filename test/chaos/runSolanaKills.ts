import { setTimeout as delay } from "node:timers/promises";
import { encodeBase58 } from "@tributary/inbox/solana/base58";
import { decodeKey } from "@tributary/inbox/solana/keys";
import { runLedgerChecks } from "../../src/audit/runLedgerChecks.ts";
import { openDatabase, type Db } from "../../src/db/database.ts";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { createTokenAccount, findTokenAccount } from "../../packages/local-solana/src/instructions.ts";
import { startLocalSolana, type LocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import { chooseFreePort } from "../support/freePort.ts";
import { addMerchant } from "../support/merchants.ts";
import { openInstallation, UNREACHABLE_CHAIN, type ServiceInstallation } from "../support/serviceInstallation.ts";
import { createWallet, payTokens } from "../support/solana.ts";
import { SeededRandom } from "./seededRandom.ts";
import { countUnsettled } from "./verifyFinalState.ts";

// kill -9 of the real service while payments on a local Solana settle. The chain is the reference: each wallet has got
// once what its payers paid.

export type SolanaKillReport = {
  kills: number;
  payments: number;
  settlements: number;
  /** Sentences about money that is missing, was paid twice, or is not in the books. */
  findings: readonly string[];
  exitCode: number | null;
  output: string;
};

type Context = {
  solana: LocalSolana;
  db: Db;
  installation: Pick<ServiceInstallation, "baseUrl">;
  apiKey: string;
  /** Between two payments. */
  pauseMs?: number;
};
type KillContext = Context & { installation: ServiceInstallation };
/** An acknowledged intent, and what was paid to it. */
type PaidIntent = { intentId: string; inbox: string; wallet: string; units: bigint };

const MINT = LOCAL_MINTS.USDC.address;
const SLOT_MS = 100;
const FINALIZED_AFTER = 6;
const LIFE_MS_MAX = 3_000;
const PAUSE_MS = 150;
const POLL_MS = 250;
const SETTLED_MS_MAX = 120_000;
const AMOUNTS = [1_000_000n, 400_000n, 999_999n, 25_000_001n];
const OUTPUT_CHARS_MAX = 4_000;

export async function runSolanaKills({ kills, seed }: { kills: number; seed: number }): Promise<SolanaKillReport> {
  const server = await startOwnServer({ isDurable: true });
  const options = { clock: systemClock, slotMs: SLOT_MS, finalizedAfter: FINALIZED_AFTER, name: `kills ${seed}` };
  const solana = await startLocalSolana(options);
  const databaseUrl = await createDatabaseOn(server, "service");
  const db = await openDatabase({ url: databaseUrl });
  const installation = await installOn(solana, databaseUrl);
  try {
    const { apiKey } = await addMerchant(db, { chainReference: "1", feeBps: 50 });
    return await killUnderLoad({ solana, db, installation, apiKey }, { kills, random: new SeededRandom(seed) });
  } finally {
    await db.close();
    await Promise.all([solana.stop(), installation.remove()]);
    await server.remove();
  }
}

async function killUnderLoad(
  context: KillContext,
  { kills, random }: { kills: number; random: SeededRandom },
): Promise<SolanaKillReport> {
  const { db, installation } = context;
  const load = new AbortController();
  const paid: PaidIntent[] = [];
  const worker = payUntil(context, { paid, random: new SeededRandom(random.below(2 ** 31)), signal: load.signal });
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      const running = await installation.start();
      await delay(random.below(LIFE_MS_MAX));
      await running.kill();
    }
  } finally {
    load.abort();
  }
  const payments = await worker;
  const last = await installation.start();
  await waitUntilSettled(context, paid);
  const exitCode = await last.stop();
  const landed = await db.root.selectFrom("settlement").select("id").where("status", "=", "landed").execute();
  const findings = await compareWithChain(context, paid);
  const output = last.output().slice(-OUTPUT_CHARS_MAX);
  return { kills, payments, settlements: landed.length, findings, exitCode, output };
}

/** Creates intents and pays them until aborted, also while the service is down. Returns the number of payments. */
async function payUntil(
  context: Context,
  { paid, random, signal }: { paid: PaidIntent[]; random: SeededRandom; signal: AbortSignal },
): Promise<number> {
  let payments = 0;
  for (let number = 1; !signal.aborted; number += 1) {
    const created = await createIntent(context, { number, signal });
    if (created) paid.push(created);
    const intent = random.oneIn(3) ? random.pick(paid) : paid.at(-1);
    if (intent) {
      const units = random.pick(AMOUNTS) ?? 1n;
      payTokens(context.solana, { to: intent.inbox, units });
      intent.units += units;
      payments += 1;
    }
    await delay(context.pauseMs ?? PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
  return payments;
}

/** Repeats a create with its key until it is answered. Undefined when the load ends before. */
async function createIntent(
  { solana, installation, apiKey }: Context,
  { number, signal }: { number: number; signal: AbortSignal },
): Promise<PaidIntent | undefined> {
  const { operator } = SOLANA_ACCOUNTS;
  const wallet = createWallet(solana, 0n).address;
  // Half of the wallets have no token account yet.
  if (number % 2 === 0)
    solana.control.send([operator], [createTokenAccount(operator.address, { owner: wallet, mint: MINT })]);
  const payout = { payoutNamespace: "solana", payoutChainReference: solana.reference, payoutWallet: wallet };
  const request = {
    method: "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "service-version": "2026-11-01",
      "content-type": "application/json",
      "idempotency-key": `create ${number}`,
    },
    body: JSON.stringify({ ...payout, merchantReference: `create ${number}` }),
  };
  while (!signal.aborted) {
    const response = await fetch(`${installation.baseUrl}/api/v1/intents`, request).catch(() => undefined);
    const body: unknown = await response?.json().catch(() => undefined);
    const { intentId, inboxAddress } = Object(body) as { intentId?: string; inboxAddress?: string };
    if (response?.status === 201 && intentId !== undefined && inboxAddress !== undefined)
      return { intentId, inbox: inboxAddress, wallet, units: 0n };
    // A starved machine reads a request for too long, which is answered like a broken one.
    const isLate = response?.status === 400 && JSON.stringify(body).includes("took too long");
    if (response !== undefined && response.status < 500 && ![409, 429].includes(response.status) && !isLate)
      throw new Error(`create: ${response.status} ${JSON.stringify(body)}`);
    await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/** Waits until everything paid is found and settled. The findings name what is not. */
async function waitUntilSettled(context: Context, paid: readonly PaidIntent[]): Promise<void> {
  const { db } = context;
  const deadline = performance.now() + SETTLED_MS_MAX;
  while (performance.now() < deadline) {
    await delay(POLL_MS);
    const open = await db.root.selectFrom("outgoing_transaction").select("id").where("status", "=", "signed").execute();
    const differing = await db.root.selectFrom("balance_difference").select("inbox").execute();
    const unsettled = open.length + differing.length + (await countUnsettled(db));
    if (unsettled === 0 && (await compareWithChain(context, paid)).length === 0) return;
  }
}

async function compareWithChain({ solana, db }: Context, paid: readonly PaidIntent[]): Promise<string[]> {
  const unitsOf = (owner: string) => solana.control.units(findTokenAccount({ owner, mint: MINT }));
  const findings: string[] = [];
  for (const { intentId, inbox, wallet, units } of paid) {
    const row = await db.root.selectFrom("intent").selectAll().where("id", "=", intentId).executeTakeFirst();
    if (row === undefined) findings.push(`intent ${intentId} was acknowledged and is missing`);
    if (row === undefined) continue;
    const { received_units: received, settled_units: settled, fee_units: fee, net_units: net } = row;
    if (unitsOf(inbox) > 0n) findings.push(`${unitsOf(inbox)} are still in the inbox of ${intentId}`);
    if (received !== units || settled !== units)
      findings.push(`${units} were paid to ${intentId}, ${received} received and ${settled} settled`);
    if (unitsOf(wallet) !== net || net + fee !== settled)
      findings.push(`${intentId} shows ${net} paid out, and its wallet has ${unitsOf(wallet)}`);
  }
  const failed = await runLedgerChecks(db);
  return [...findings, ...failed.map(({ check }) => `ledger check: ${check}`)];
}

async function installOn(solana: LocalSolana, databaseUrl: string): Promise<ServiceInstallation> {
  const { chain, variables } = localSolanaFields(solana);
  return openInstallation({
    chain: UNREACHABLE_CHAIN,
    databaseUrl,
    port: await chooseFreePort(),
    config: { chains: [chain], defaultRail: "solana-local:usdc" },
    variables,
  });
}

/** The chain's entry in the configuration file, and the variables that it names. */
function localSolanaFields(solana: LocalSolana) {
  const { operator, feeRecipient } = SOLANA_ACCOUNTS;
  const pair = Uint8Array.from([...operator.seed, ...decodeKey("operator", operator.address)]);
  const chain = {
    namespace: "solana",
    reference: solana.reference,
    name: "Local Solana",
    slug: "solana-local",
    rpcUrls: [solana.url],
    publicRpcUrl: solana.url,
    explorerUrl: "http://127.0.0.1:1",
    program: LOCAL_INBOX_PROGRAM,
    feePayerKeyEnv: "TEST_FEE_PAYER",
    feePayer: operator.address,
    feeRecipient: feeRecipient.address,
    pollMs: 200,
    settleAfterMs: 0,
    tokens: [{ symbol: "USDC", mint: MINT, decimals: 6, minimumUnits: "0" }],
  };
  return { chain, variables: { TEST_FEE_PAYER: encodeBase58(pair) } };
}
