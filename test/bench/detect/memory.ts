import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { openDatabase } from "../../../src/db/database.ts";
import { DEV_ACCOUNTS } from "../../../src/dev/devAccounts.ts";
import { findPort } from "../../../src/dev/findPort.ts";
import { startTestChain } from "../../support/chain.ts";
import { startPostgres } from "../../support/postgres.ts";
import { openInstallation } from "../../support/serviceInstallation.ts";
import { inboxAt } from "../backfillNode.ts";
import { fillWithInboxes } from "./manyInboxes.ts";
import type { SetImplementation, SetReport, LoadReport, MemoryJob } from "./memoryWorker.ts";
import { runInChildProcess } from "./runInChildProcess.ts";
import { heading, tabulate } from "./statistics.ts";

// Measures the memory and the startup time of the watched set.

const HELD_COUNTS: readonly (readonly [SetImplementation, number])[] = [
  ["AddressSet", 100_000],
  ["Set", 100_000],
  ["Map", 100_000],
  ["AddressSet", 1_000_000],
  ["Set", 1_000_000],
  ["Map", 1_000_000],
  ["AddressSet", 10_000_000],
];
const LOADED = 1_000_000;
const SERVED = 100_000;
const BYTES_PER_MB = 1_000_000;
const SERVICE_GOAL_MB = 350;
const DEPOSITS_MAX = 600;

/**
 * Prints bytes per inbox beside Set and Map of strings, the load of a million inboxes, and the service with 100,000.
 */
export async function benchMemory(): Promise<void> {
  await compareHolders();
  const server = await startPostgres(undefined, { isDurable: true });
  try {
    await fillWithInboxes(server.urlOf("postgres"), SERVED);
    await measureService(server.urlOf("postgres"));
    await fillWithInboxes(server.urlOf("postgres"), LOADED, SERVED);
    const report = await runInChildProcess<LoadReport>("memoryWorker.ts", {
      kind: "load",
      url: server.urlOf("postgres"),
    });
    console.log(
      `\nstart with ${report.count.toLocaleString("en")} inboxes in the database: ${(report.ms / 1_000).toFixed(1)} s, ${mb(report.rssBytes)} more than before, ${mb(report.peakBytes)} at the peak`,
    );
  } finally {
    await server.remove();
  }
}

async function compareHolders(): Promise<void> {
  const rows: string[][] = [];
  for (const [holder, count] of HELD_COUNTS) {
    const job: MemoryJob = { kind: "hold", holder, count };
    const report = await runInChildProcess<SetReport>("memoryWorker.ts", job);
    const bytesPerInbox = (bytes: number) => (bytes / count).toFixed(1);
    rows.push([
      `${holder}, ${count.toLocaleString("en")}`,
      bytesPerInbox(report.heldBytes),
      bytesPerInbox(report.rssBytes),
      bytesPerInbox(report.peakBytes),
      report.missNs === undefined ? "" : report.missNs.toFixed(0),
    ]);
  }
  console.log("memory: bytes an inbox, each in a process of its own");
  console.log(tabulate([["", "held", "resident", "peak", "ns a stranger"], ...rows]));
}

/** Measures a real service after its first deposit, when all inboxes are loaded. */
async function measureService(databaseUrl: string): Promise<void> {
  const chain = await startTestChain();
  const site = await openInstallation({ chain, databaseUrl, port: await findPort("127.0.0.1", 0) });
  const service = await site.start();
  try {
    const db = await openDatabase({ url: databaseUrl });
    let deposits = 0;
    for (let attempt = 0; attempt < DEPOSITS_MAX && deposits === 0; attempt += 1) {
      if (attempt % 50 === 0)
        await chain.pay(chain.usdc.address, inboxAt(7) as `0x${string}`, {
          amountUnits: 1_000_000n,
          from: DEV_ACCOUNTS.payer,
        });
      await sleep(100);
      deposits = (await db.root.selectFrom("deposit").select("id").execute()).length;
    }
    await db.close();
    if (deposits === 0) throw new Error(`the service found no deposit: ${service.output()}`);
    const status = await readFile(`/proc/${service.pid}/status`, "utf8");
    const kilobytes = (field: string) => Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1_024;
    const [resident, peak] = [kilobytes("VmRSS"), kilobytes("VmHWM")];
    console.log(
      `\nthe service with ${SERVED.toLocaleString("en")} inboxes: ${mb(resident)} resident, ${mb(peak)} at the peak = ${(peak / BYTES_PER_MB / SERVICE_GOAL_MB).toFixed(2)} of ${SERVICE_GOAL_MB} MB`,
    );
  } finally {
    await service.kill();
    await site.remove();
    await chain.stop();
  }
}

function mb(bytes: number): string {
  return `${(bytes / BYTES_PER_MB).toFixed(0)} MB`;
}

if (import.meta.main) {
  console.log(heading());
  await benchMemory();
}
