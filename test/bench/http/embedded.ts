import { enableWasmKeccak } from "@tributary/inbox/wasmKeccak";
import { CompiledQuery } from "kysely";
import { createIntent } from "../../../src/intent/createIntent.ts";
import { ensureDeployment } from "../../../src/intent/deployment.ts";
import { createAccount } from "../../../src/merchant/createAccount.ts";
import { openTestDatabase } from "../../support/database.ts";
import { randomAddress } from "../../support/intents.ts";
import { stationWorld } from "../../support/stationWorld.ts";
import { median } from "../detect/statistics.ts";
import { createStatement, freshValues, uniquePlaces } from "./statements.ts";

const EMBEDDED_CREATES = 600;

/** PGlite has no server to compare with, so this compares the use case with a loop over its statement. */
export async function compareEmbedded(runs: number): Promise<void> {
  // The service also does this at startup.
  await enableWasmKeccak();
  const db = await openTestDatabase("pglite");
  try {
    const world = stationWorld(db);
    const payout = { namespace: "eip155", chainReference: "31337", wallet: randomAddress(), currency: "USDC" } as const;
    const account = await createAccount(world, { name: "Bench", payout });
    await ensureDeployment(world);
    const statement = await createStatement(world, account);
    const places = uniquePlaces(statement);
    const input = { priceUnits: 25_000_000 };
    // All work runs in this process, so its CPU time is more precise than the wall clock.
    const timed = async (work: () => Promise<unknown>) => {
      const before = process.cpuUsage();
      for (let times = 0; times < EMBEDDED_CREATES; times += 1) await work();
      const { user, system } = process.cpuUsage(before);
      return EMBEDDED_CREATES / ((user + system) / 1_000_000);
    };
    const bareLoop = (text: string) => () =>
      db.root.executeQuery(CompiledQuery.raw(text, freshValues(statement.values, places)));
    const loops = {
      ours: () => createIntent(db.root, world, { account, input }),
      // An unnamed statement is parsed and planned every time.
      parsing: bareLoop(statement.text.replace(/^\/\*.*?\*\//, "")),
      prepared: bareLoop(statement.text),
    };
    const rates: Record<keyof typeof loops, number[]> = { ours: [], parsing: [], prepared: [] };
    for (const work of Object.values(loops)) await timed(work);
    for (let turn = 0; turn < runs; turn += 1) {
      rates.parsing.push(await timed(loops.parsing));
      rates.ours.push(await timed(loops.ours));
      rates.prepared.push(await timed(loops.prepared));
    }
    console.log(`embedded create ${median(rates.ours).toFixed(0)} in a second of processor time`);
    for (const side of ["parsing", "prepared"] as const) {
      const ratios = rates.ours.map((rate, turn) => rate / (rates[side][turn] ?? Number.NaN));
      console.log(`  a loop, ${side}: ${median(rates[side]).toFixed(0)}, ours are ${median(ratios).toFixed(2)} of it`);
    }
  } finally {
    await db.close();
  }
}
