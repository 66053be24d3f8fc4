import { randomBytes } from "node:crypto";
import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, type CompiledQuery } from "kysely";
import type { Schema } from "../../../src/db/schema.ts";
import type { Db } from "../../../src/db/database.ts";
import { encodeParameter } from "../../../src/db/parameters.ts";
import { createIntent } from "../../../src/intent/createIntent.ts";
import { findIntent, listIntentPage } from "../../../src/intent/store.ts";
import type { AccountRow } from "../../../src/merchant/store.ts";
import type { World } from "../../../src/world.ts";

/** A statement of the service's own, as text, with the parameters of one call. */
export type Statement = { text: string; values: (string | null)[] };

type CreateWorld = Pick<World, "db" | "clock" | "entropy" | "memory" | "config" | "catalog">;

/** What a create asks of the database: listened to, not written down, so that it is always today's. */
export async function createStatement(world: CreateWorld, account: AccountRow): Promise<Statement> {
  const heard = new CapturingDatabase();
  await createIntent(heard.db, world, { account, input: { priceUnits: 25_000_000 } }).catch(() => {});
  return heard.first();
}

/** What a read of one intent asks. */
export async function getStatement(of: { accountId: string; intentId: string }): Promise<Statement> {
  const heard = new CapturingDatabase();
  await findIntent({ root: heard.db } as Db, of);
  return heard.first();
}

/** What the first page of an account's intents asks: one more than it shows, to know whether there are others. */
export async function listStatement({ accountId, limit }: { accountId: string; limit: number }): Promise<Statement> {
  const heard = new CapturingDatabase();
  const page = { accountId, limit: limit + 1, belowSeq: undefined, merchantReference: undefined };
  await listIntentPage({ root: heard.db } as Db, page);
  return heard.first();
}

/** A database that answers every statement with no row, and remembers it. */
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
        throw new Error("nothing is streamed");
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
    if (query === undefined) throw new Error("nothing was asked");
    return { text: query.sql, values: query.parameters.map(encodeParameter) };
  }
}

/** Parameters that differ from call to call: identifiers, addresses and hashes, told by their looks. */
const UNIQUE = /^(?:pi_|evt_)[0-9a-z]{26}$|^\\x[0-9a-f]{64}$|^0x[0-9a-f]{64}$/;

/** Where those stand. The inbox's address is the only address that is new; its column tells where it stands. */
export function uniquePlaces({ text, values }: Statement): number[] {
  const columns = /insert into intent as occupant \(([^)]*)\)/.exec(text)?.[1]?.split(",") ?? [];
  const inbox = values[columns.indexOf("inbox_address")];
  return values.flatMap((value, index) => (value !== null && (UNIQUE.test(value) || value === inbox) ? [index] : []));
}

/** The same call again with other identifiers; equal ones stay equal to each other. */
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

/** A script of pgbench, and the texts of its variables. */
export type PgbenchScript = { text: string; variables: Record<string, string> };

/**
 * The statement for pgbench, with the same parameters: it binds variables as we do. What is unique is made of its random numbers, inside
 * the statement, because its own variables cannot be texts that change.
 */
export function pgbenchScript({ text, values }: Statement, places: readonly number[]): PgbenchScript {
  const names = new Map<string, number>();
  const variables: Record<string, string> = {};
  const replaced = text.replaceAll(/\$(\d+)/g, (_, digits: string) => {
    const index = Number(digits) - 1;
    const value = values[index] ?? null;
    // It has no null.
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
  // One line a command is what pgbench reads.
  return { text: `${drawn.join("\n")}\n${replaced.replaceAll(/\s*\n\s*/g, " ")};\n`, variables };
}

function pgbenchExpression(value: string, number: number): string {
  const [prefix = ""] = /^(?:pi_|evt_|\\x|0x)/.exec(value) ?? [];
  const digits = `md5(:v${number}::text) || md5(:v${number}::text)`;
  const length = value.length - prefix.length;
  if (prefix === "\\x") return `decode(${digits}, 'hex')`;
  return `'${prefix}' || substr(${digits}, 1, ${length})`;
}
