import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { EVENT_TYPES } from "../../src/event/event.ts";
import { renderCli, temporaryFolder } from "../support/cli.ts";
import type { AcknowledgedIntent } from "./merchants.ts";
import type { ChaosContext } from "./runKills.ts";

// What a database lost, and what brings it back.

/** Imports the responses of all creates, account by account, as an operator gets them from the merchants. */
export async function importKept(
  { db, installation, merchants }: ChaosContext,
  acknowledged: readonly AcknowledgedIntent[],
) {
  const present = await db.root.selectFrom("intent").select("id").execute();
  const ids = new Set(present.map(({ id }) => id));
  const forgotten = acknowledged.filter(({ intentId }) => !ids.has(intentId)).length;
  const folder = temporaryFolder();
  const said: string[] = [];
  for (const merchant of merchants) {
    const kept = acknowledged
      .filter((intent) => intent.merchant === merchant)
      .map(({ response }) => JSON.stringify(response));
    const file = join(folder.path, "kept.jsonl");
    writeFileSync(file, kept.join("\n"));
    const args = ["intents", "import", file, "--account", merchant.accountId, "--config", installation.file];
    const { code, out, err } = await renderCli(args, installation.environment);
    said.push(`${code} ${out}${err}`);
  }
  folder.remove();
  return { forgotten, imported: said.join("\n") };
}

export async function countRestoredFeeds({ root }: Pick<ChaosContext["db"], "root">): Promise<number> {
  const events = root.selectFrom("event").select("id").where("type", "=", EVENT_TYPES["account.feed_restored"]);
  return (await events.execute()).length;
}
