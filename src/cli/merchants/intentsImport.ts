import { InboxInputError, readEntries } from "@tributary/recover/parseInboxes";
import { CommandError } from "../../operator/errors.ts";
import { toJson, type Terminal } from "../../operator/process/terminal.ts";
import type { ImportedOutput, SearchOutput } from "../../operator/restore/importIntents.ts";
import type { Command, CommandInput } from "../command.ts";
import { CONFIG_OPTION, openOperatorClient, type OperatorClient } from "../operatorClient.ts";
import { readFileText } from "../recover/recoverInput.ts";

export const intentsImport: Command = {
  name: "intents import",
  summary: "bring back intents that the database lost, and find their payments",
  help: "Bring back intents that the database lost, from responses of creates or from `intents export`, and find their payments on the chains",
  positionals: [{ name: "file", summary: "intents as JSON lines, or - for standard input" }],
  options: {
    account: { value: "ID", summary: "the account that gets them; default: the one that each line names" },
    ...CONFIG_OPTION,
  },
  examples: ["tributary intents import intents.jsonl", "tributary intents import responses.jsonl --account acct_3x7…"],
  run: runImport,
};

/** The same limit as in the operation. */
const BATCH = 100;

type Entry = Readonly<Record<string, unknown>>;
type Totals = { imported: number; known: number; refused: ImportedOutput[]; found: SearchOutput["recorded"] };

async function runImport(input: CommandInput): Promise<number> {
  const { positionals, values, asJson, terminal } = input;
  const file = positionals[0] ?? "-";
  const entries = readFileEntries(file);
  const shared = entries.filter(showsRoutes).slice(0, BATCH);
  const operator = await openOperatorClient(input);
  const totals: Totals = { imported: 0, known: 0, refused: [], found: [] };
  try {
    const { chains } = await operator.call("status", {});
    for (let first = 0; first < entries.length; first += BATCH) {
      const batch = entries.slice(first, first + BATCH);
      const { intents, since } = await operator.call("intents import", {
        entries: JSON.stringify(batch),
        routes: JSON.stringify(shared),
        account: values["account"],
      });
      const count = (outcome: string) => intents.filter((intent) => intent.outcome === outcome).length;
      totals.imported += count("imported");
      totals.known += count("known");
      totals.refused.push(...intents.filter(({ outcome }) => outcome === "refused"));
      const intentIds = intents.flatMap(({ intentId, outcome }) => (outcome === "refused" ? [] : (intentId ?? [])));
      for (const { chain } of chains) totals.found.push(...(await searchChain(operator, { chain, intentIds, since })));
      terminal.progress(`${first + batch.length} of ${entries.length} intents`);
    }
  } finally {
    await operator.close();
  }
  for (const line of asJson ? [toJson(totals)] : printTotals(totals, terminal)) terminal.out(line);
  return totals.refused.length === 0 ? 0 : 1;
}

function readFileEntries(file: string): Entry[] {
  try {
    return readEntries(readFileText(file)).map(({ value }) => value as Entry);
  } catch (error) {
    if (error instanceof InboxInputError) throw new CommandError(`${file}: ${error.message}`);
    throw error;
  }
}

/** Intents of one rail share their routes, and a list shows them once. */
function showsRoutes({ inboxTerms }: Entry): boolean {
  return typeof inboxTerms === "object" && inboxTerms !== null && Array.isArray(Reflect.get(inboxTerms, "routes"));
}

async function searchChain(
  operator: OperatorClient,
  { chain, intentIds, since }: { chain: string; intentIds: readonly string[]; since: string | null },
): Promise<SearchOutput["recorded"]> {
  if (intentIds.length === 0) return [];
  const found: SearchOutput["recorded"] = [];
  const search = { intentIds: intentIds.join(), chain };
  let part = await operator.call("intents search", { ...search, since });
  found.push(...part.recorded);
  while (part.nextBlock !== null) {
    part = await operator.call("intents search", { ...search, fromBlock: part.nextBlock });
    found.push(...part.recorded);
  }
  return found;
}

function printTotals({ imported, known, refused, found }: Totals, terminal: Terminal): string[] {
  const incoming = found.filter(({ direction }) => direction === "in").length;
  return [
    ...refused.map(({ intentId, reason }) => `${terminal.paint("red", "✗")} ${intentId ?? "an entry"}: ${reason}`),
    `${imported} intents imported, ${known} were there, ${refused.length} refused. ${incoming} payments and ${found.length - incoming} payouts found.`,
    "Not restored, because nothing shows it: archives and revoked keys since the backup, and open checkout links.",
  ];
}
