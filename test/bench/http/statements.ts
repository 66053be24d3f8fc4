import { randomBytes } from "node:crypto";
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type CompiledQuery } from "kysely";
import type { Schema } from "../../../src/db/schema.ts";
import type { Db } from "../../../src/db/database.ts";
import { encodeParameter } from "../../../src/db/parameters.ts";
import { createIntent } from "../../../src/intent/createIntent.ts";
import { listIntentPage } from "../../../src/intent/lists/listIntentPage.ts";
import { findIntent } from "../../../src/intent/store.ts";
import type { AccountRow } from "../../../src/merchant/store.ts";
import type { World } from "../../../src/world.ts";

/** One of the service's statements as text, with one call's parameters. */
export type Statement = { text: string; values: (string | null)[] };

type CreateWorld = Pick<World, "db" | "clock" | "entropy" | "memory" | "config" | "catalog">;

/** The statement of a create, captured from the service so that it is always current. */
export async function createStatement(world: CreateWorld, account: AccountRow): Promise<Statement> {
  const recorded = new CapturingDatabase();
  await createIntent(recorded.db, world, { account, input: { priceUnits: 25_000_000 } }).catch(() => {});
  return recorded.first();
}

/** The statement of a read of one intent. */
export async function getStatement(intent: { accountId: string; intentId: string }): Promise<Statement> {
  const recorded = new CapturingDatabase();
  await findIntent({ root: recorded.db } as Db, intent);
  return recorded.first();
}

/** The statement of the first page of an account's intents, which reads one more row to detect a next page. */
export async function listStatement({ accountId, limit }: { accountId: string; limit: number }): Promise<Statement> {
  const recorded = new CapturingDatabase();
  const page = { accountId, limit: limit + 1, belowSeq: undefined, merchantReference: undefined };
  await listIntentPage({ root: recorded.db } as Db, page);
  return recorded.first();
}

/** A database that records every statement and returns no rows. */
class CapturingDatabase {
  readonly #statements: CompiledQuery[] = [];
  readonly db: Kysely<Schema>;

  constructor() {
    const connection = {
      executeQuery: async (query: CompiledQuery) => {
        this.#statements.push(query);
        return { rows: [] };
      },
      streamQuery: () => {
        throw new Error("streaming is not supported");
      },
    };
    const nothing = async () => {};
    this.db = new Kysely<Schema>({
      dialect: {
        createAdapter: () => new PostgresAdapter(),
        createQueryCompiler: () => new PostgresQueryCompiler(),
        createIntrospector: (db) => new PostgresIntrospector(db),
        createDriver: () => ({
          init: nothing,
          acquireConnection: async () => connection,
          beginTransaction: nothing,
          commitTransaction: nothing,
          rollbackTransaction: nothing,
          releaseConnection: nothing,
          destroy: nothing,
        }),
      },
    });
  }

  first(): Statement {
    const [query] = this.#statements;
    if (query === undefined) throw new Error("no statement was recorded");
    return { text: query.sql, values: query.parameters.map(encodeParameter) };
  }
}

/** Parameters that differ per call: identifiers, addresses and hashes, recognized by their format. */
const UNIQUE = /^(?:pi_|evt_)[0-9a-z]{26}$|^\\x(?:[0-9a-f]{32}){1,2}$|^0x[0-9a-f]{64}$/;

/** Columns of the same format whose values all intents of a rail share. */
const SHARED_COLUMNS: readonly string[] = ["routes_root", "route_set"];

/** The positions of those parameters. The only new address is the inbox's, found by its column. */
export function uniquePlaces({ text, values }: Statement): number[] {
  const columns = /insert into intent as occupant \(([^)]*)\)/.exec(text)?.[1]?.split(",") ?? [];
  const inbox = values[columns.indexOf("inbox_address")];
  return values.flatMap((value, index) => {
    if (value === null || SHARED_COLUMNS.includes(columns[index]?.trim() ?? "")) return [];
    return UNIQUE.test(value) || value === inbox ? [index] : [];
  });
}

/** The same call with new identifiers; equal identifiers stay equal. */
export function freshValues(values: readonly (string | null)[], places: readonly number[]): (string | null)[] {
  const fresh = [...values];
  const renamed = new Map<string, string>();
  for (const place of places) {
    const old = values[place] ?? "";
    const name = renamed.get(old) ?? freshName(old);
    renamed.set(old, name);
    fresh[place] = name;
  }
  return fresh;
}

function freshName(old: string): string {
  const hex = randomBytes(32).toString("hex");
  const [prefix = ""] = /^(?:pi_|evt_|\\x|0x)/.exec(old) ?? [];
  return `${prefix}${hex.slice(0, old.length - prefix.length)}`;
}

/** A pgbench script and its variables. */
export type PgbenchScript = { text: string; variables: Record<string, string> };

/**
 * The statement for pgbench with the same bound parameters. SQL builds unique values from pgbench's random numbers,
 * because pgbench variables cannot be changing texts.
 */
export function pgbenchScript({ text, values }: Statement, places: readonly number[]): PgbenchScript {
  const names = new Map<string, number>();
  const variables: Record<string, string> = {};
  const replaced = text.replaceAll(/\$(\d+)/g, (_, digits: string) => {
    const index = Number(digits) - 1;
    const value = values[index] ?? null;
    // pgbench has no null.
    if (value === null) return "null";
    if (!places.includes(index)) {
      variables[`p${digits}`] = value;
      return `:p${digits}`;
    }
    const number = names.get(value) ?? names.size;
    names.set(value, number);
    return pgbenchExpression(value, number);
  });
  const drawn = Array.from({ length: names.size }, (_, number) => `\\set v${number} random(1, 9000000000000000000)`);
  // pgbench reads one command per line.
  return { text: `${drawn.join("\n")}\n${replaced.replaceAll(/\s*\n\s*/g, " ")};\n`, variables };
}

function pgbenchExpression(value: string, number: number): string {
  const [prefix = ""] = /^(?:pi_|evt_|\\x|0x)/.exec(value) ?? [];
  const digits = `md5(:v${number}::text) || md5(:v${number}::text)`;
  const length = value.length - prefix.length;
  if (prefix === "\\x") return `decode(substr(${digits}, 1, ${length}), 'hex')`;
  return `'${prefix}' || substr(${digits}, 1, ${length})`;
}
