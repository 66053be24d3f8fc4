import type { Route } from "@tributary/inbox/routes";
import type { Hex } from "@tributary/inbox/terms";
import { importIntent } from "../../intent/restore/importIntent.ts";
import { ImportRefused, readImported, rootOf, type ImportedEntry } from "../../intent/restore/readImported.ts";
import { findAccount, type AccountRow } from "../../merchant/store.ts";
import { findFirstBlock, searchInboxes } from "../../watch/reread/searchInboxes.ts";
import type { World } from "../../world.ts";
import { CommandError } from "../errors.ts";
import { optionalNumber, optionalText, requiredText } from "../operation/inputFields.ts";
import { defineOperatorOperation } from "../operation/operatorOperation.ts";

/** The most intents of one call. */
const IMPORT_BATCH_MAX = 100;
/** How long before a create the chain's clock may show its first payment. */
const MARGIN_MS = 3_600_000;

export type ImportedOutput = {
  intentId: string | null;
  outcome: "imported" | "known" | "refused";
  /** Why it was refused; null else. */
  reason: string | null;
  /** Whether a create with the same destination finds it. */
  occupies: boolean;
};

/** Imports a batch of intents from the responses of their creates. What is refused stops no other. */
export const importIntents = defineOperatorOperation({
  effect: "write",
  /** `entries`, `routes`: JSON lists. `routes` are entries whose routes others share. */
  input: { entries: requiredText, routes: optionalText, account: optionalText },
  async run(world, { entries, routes, account }): Promise<{ intents: ImportedOutput[]; since: string | null }> {
    const parsed = parseEntries(entries);
    const routesOf = collectRoutes(world, [...parsed, ...(routes === undefined ? [] : parseEntries(routes))]);
    const intents: ImportedOutput[] = [];
    let since: Date | undefined;
    for (const entry of parsed) {
      const { output, createdAt } = await importEntry(world, { entry, routesOf, accountId: account });
      intents.push(output);
      if (createdAt !== undefined && (since === undefined || createdAt < since)) since = createdAt;
    }
    return { intents, since: since?.toISOString() ?? null };
  },
});

async function importEntry(
  world: World,
  given: { entry: ImportedEntry; routesOf: ReadonlyMap<Hex, readonly Route[]>; accountId: string | undefined },
): Promise<{ output: ImportedOutput; createdAt?: Date }> {
  const { entry, routesOf } = given;
  const intentId = typeof entry["intentId"] === "string" ? entry["intentId"] : null;
  try {
    const imported = readImported(world, entry);
    const account = await readAccount(world, given);
    const { outcome, occupies } = await importIntent(world, { imported, account, routesOf });
    return { output: { intentId, outcome, reason: null, occupies }, createdAt: imported.row.created_at };
  } catch (error) {
    if (!(error instanceof ImportRefused)) throw error;
    return { output: { intentId, outcome: "refused", reason: error.message, occupies: false } };
  }
}

async function readAccount(
  world: World,
  { entry, accountId }: { entry: ImportedEntry; accountId: string | undefined },
): Promise<AccountRow> {
  const named = accountId ?? entry["accountId"];
  if (typeof named !== "string") throw new ImportRefused("it names no account: give --account");
  const account = await findAccount(world.db, named);
  if (account === undefined) throw new ImportRefused(`there is no account ${named}: give --account`);
  return account;
}

function collectRoutes(world: World, entries: readonly ImportedEntry[]): Map<Hex, readonly Route[]> {
  const routesOf = new Map<Hex, readonly Route[]>();
  for (const entry of entries)
    try {
      const imported = readImported(world, entry);
      if (imported.routes !== undefined) routesOf.set(rootOf(imported), imported.routes);
    } catch (error) {
      // It is refused by itself, with its reason.
      if (!(error instanceof ImportRefused)) throw error;
    }
  return routesOf;
}

function parseEntries(text: string): ImportedEntry[] {
  const list: unknown = JSON.parse(text);
  if (
    !Array.isArray(list) ||
    list.length > IMPORT_BATCH_MAX ||
    list.some((entry) => typeof entry !== "object" || entry === null)
  )
    throw new CommandError(`entries must be a list of at most ${IMPORT_BATCH_MAX} intents.`);
  return list as ImportedEntry[];
}

export type SearchOutput = {
  /** The movements that were not recorded before. */
  recorded: { intentId: string; direction: "in" | "out"; amountUnits: string; txHash: string }[];
  nextBlock: number | null;
};

/**
 * Searches one part of a chain for payments to imported intents. The first part begins at a time, the others at a
 * block.
 */
export const searchIntents = defineOperatorOperation({
  effect: "write",
  input: {
    intentIds: requiredText,
    chain: requiredText,
    since: optionalText,
    fromBlock: optionalNumber({ min: 0, max: Number.MAX_SAFE_INTEGER }),
  },
  async run(world, { intentIds, chain: name, since, fromBlock }): Promise<SearchOutput> {
    const chain = [...world.chains.values()].find(({ caip2 }) => caip2 === name);
    if (chain === undefined) throw new CommandError(`No chain ${name} is configured.`);
    const first =
      fromBlock === undefined
        ? await findFirstBlock(world, chain, since === undefined ? 0 : Date.parse(since) - MARGIN_MS)
        : BigInt(fromBlock);
    const found = await searchInboxes(world, chain, { intentIds: intentIds.split(","), fromBlock: first });
    return {
      recorded: found.recorded.map(({ intent_id, direction, amount_units, chain_tx }) => ({
        intentId: intent_id,
        direction,
        amountUnits: amount_units.toString(),
        txHash: chain_tx,
      })),
      nextBlock: found.nextBlock === undefined ? null : Number(found.nextBlock),
    };
  },
});
