import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Hex } from "viem";
import { openDatabase, type Db } from "../../../src/db/database.ts";
import { findPort } from "../../../src/dev/findPort.ts";
import { startTestChain, type TestChain } from "../../support/chain.ts";
import { createDatabaseOn } from "../../support/database.ts";
import { addMerchant } from "../../support/merchants.ts";
import type { PostgresServer } from "../../support/postgres.ts";
import {
  chainFields,
  openInstallation,
  type RunningService,
  type ServiceInstallation,
} from "../../support/serviceInstallation.ts";

// The service in its own process, on a durable PostgreSQL and an anvil, and the time that it takes from a payment's
// block to the recorded landing of its settlement.

const POLL_MS = 200;
const DOLLAR = 1_000_000n;
const FEE_BPS = 50;
const CHECK_PAUSE_MS = 5;
const GIVE_UP_MS = 120_000;

export type BenchIntent = { id: string; inbox: Hex };

export type BenchService = {
  chain: TestChain;
  db: Db;
  url: string;
  /** Creates an intent of the named merchant, by default of a new one, whose limits nothing has used. */
  create(merchant?: string, headers?: Record<string, string>): Promise<BenchIntent>;
  /** Pays a dollar and returns the milliseconds from its block to the recorded landing of its settlement. */
  settle(intent: BenchIntent): Promise<number>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Resident memory of the service's process in MB; NaN where /proc is absent. */
  residentMb(): number;
  close(): Promise<void>;
};

/** `blocks`: empty blocks below the first one that the service watches. */
export async function openBenchService(
  server: PostgresServer,
  { name, chainId, blocks = 0 }: { name: string; chainId: number; blocks?: number },
): Promise<BenchService> {
  const [chain, url, port] = await Promise.all([
    startTestChain({ chainId }),
    createDatabaseOn(server, name),
    findPort("127.0.0.1", 0),
  ]);
  if (blocks > 0) await chain.mine(blocks);
  const db = await openDatabase({ url });
  const installation = await openInstallation({ chain, databaseUrl: url, port, config: { chains: [configOf(chain)] } });
  const keys = new Map<string, string>();
  let service: RunningService | undefined;
  return {
    chain,
    db,
    url,
    async create(merchant, headers = {}) {
      const known = merchant === undefined ? undefined : keys.get(merchant);
      const key = known ?? (await addMerchant(db, { chainReference: String(chainId), feeBps: FEE_BPS })).apiKey;
      if (merchant !== undefined) keys.set(merchant, key);
      return createIntent(installation, key, headers);
    },
    async settle(intent) {
      const settledUnits = (await settledUnitsOf(db, intent)) + DOLLAR;
      await chain.pay(chain.usdc.address, intent.inbox, { amountUnits: DOLLAR });
      const minedAt = performance.now();
      while (performance.now() - minedAt < GIVE_UP_MS) {
        if ((await settledUnitsOf(db, intent)) >= settledUnits) return performance.now() - minedAt;
        await delay(CHECK_PAUSE_MS);
      }
      throw new Error(`the payment to ${intent.inbox} did not settle: ${service?.output().slice(-2_000)}`);
    },
    async start() {
      service = await installation.start();
    },
    async stop() {
      await service?.stop();
      service = undefined;
    },
    residentMb: () => residentMbOf(service?.pid ?? 0),
    async close() {
      await service?.stop();
      await installation.remove();
      await db.close();
      await chain.stop();
    },
  };
}

/** Deposits below a dollar wait for more, as in production. */
function configOf(chain: TestChain): object {
  const token = { symbol: "USDC", address: chain.usdc.address, decimals: 6, minimumUnits: String(DOLLAR) };
  return chainFields(chain, { pollMs: POLL_MS, settleAfterMs: 0, tokens: [token] });
}

async function createIntent(
  { baseUrl }: ServiceInstallation,
  apiKey: string,
  headers: Record<string, string>,
): Promise<BenchIntent> {
  const response = await fetch(`${baseUrl}/api/v1/intents`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "service-version": "2026-11-01",
      "content-type": "application/json",
      ...headers,
    },
    body: "{}",
  });
  if (response.status !== 201)
    throw new Error(`a create was answered with ${response.status}: ${await response.text()}`);
  const { intentId, inboxAddress } = (await response.json()) as { intentId: string; inboxAddress: string };
  return { id: intentId, inbox: inboxAddress.toLowerCase() as Hex };
}

/** The total changes in the transaction that records a landing. */
async function settledUnitsOf(db: Db, { id }: BenchIntent): Promise<bigint> {
  const query = db.root.selectFrom("intent").select("settled_units").where("id", "=", id);
  return (await query.executeTakeFirstOrThrow()).settled_units;
}

function residentMbOf(processId: number): number {
  try {
    const [, kilobytes = ""] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${processId}/status`, "utf8")) ?? [];
    return Number(kilobytes) / 1_024;
  } catch {
    return Number.NaN;
  }
}
