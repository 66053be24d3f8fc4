import type { Tx } from "../db/database.ts";
import { Fault } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { normalizePageOrigin } from "./pageOrigin.ts";
import {
  lockAccount,
  deletePageOrigin,
  findAccount,
  insertPageOrigin,
  listPageOriginRows,
  replacePageOriginRows,
} from "./store.ts";

type PageOriginWorld = Pick<World, "db" | "clock" | "config">;
export type AccountPageOrigin = { accountId: string; origin: string };

/** All origins appear in one response header of the page. */
export const ORIGINS_MAX = 20;

/**
 * Allows pages of `origin` to embed the account's checkout. Repeating changes nothing. Returns the normalized form.
 * Throws invalid_request or not_found.
 */
export async function addPageOrigin(world: PageOriginWorld, added: AccountPageOrigin): Promise<string> {
  const origin = requirePageOrigin(world, added.origin);
  await world.db.transaction(async (tx) => {
    if ((await lockAccount(tx, added.accountId)) === undefined) throw accountNotFound();
    const present = await listPageOriginRows(tx, added.accountId);
    if (present.includes(origin)) return;
    if (present.length >= ORIGINS_MAX) {
      const message = `An account has ${ORIGINS_MAX} page origins at most: remove one first.`;
      throw new Fault("invalid_request", { param: "origin", message });
    }
    await insertPageOrigin(tx, { account_id: added.accountId, origin, added_at: world.clock.now() });
  });
  return origin;
}

/**
 * Makes these the page origins of the account, and returns them in alphabetical order. Origins that normalize to the
 * same form count once. Throws invalid_request or not_found, and changes nothing then.
 */
export function replacePageOrigins(world: PageOriginWorld, list: PageOriginList): Promise<string[]> {
  return world.db.transaction((tx) => changePageOrigins(tx, world, list));
}

type PageOriginList = { accountId: string; origins: readonly string[] };

/** As `replacePageOrigins`, in the caller's transaction. */
export async function changePageOrigins(
  tx: Tx,
  world: PageOriginWorld,
  { accountId, origins: texts }: PageOriginList,
): Promise<string[]> {
  const origins = [...new Set(texts.map((text, index) => requireListedOrigin(world, text, index)))].toSorted();
  if (origins.length > ORIGINS_MAX) throw invalidOrigin("origins", `a list of at most ${ORIGINS_MAX} page origins`);
  if ((await lockAccount(tx, accountId)) === undefined) throw accountNotFound();
  await replacePageOriginRows(tx, { accountId, origins, addedAt: world.clock.now() });
  return origins;
}

/** Removes an origin. Pages that are already open keep working until a reload. Throws invalid_request or not_found. */
export async function removePageOrigin(world: PageOriginWorld, removed: AccountPageOrigin): Promise<string> {
  const origin = requirePageOrigin(world, removed.origin);
  if (await deletePageOrigin(world.db, { accountId: removed.accountId, origin })) return origin;
  throw new Fault("not_found", { message: `${origin} is not on the list of this account.` });
}

/** Lists the origins in alphabetical order. Throws not_found. */
export async function listPageOrigins(world: Pick<World, "db">, accountId: string): Promise<string[]> {
  if ((await findAccount(world.db, accountId)) === undefined) throw accountNotFound();
  return listPageOriginRows(world.db.root, accountId);
}

function requirePageOrigin({ config }: PageOriginWorld, text: string): string {
  const origin = normalizePageOrigin(text, config.environment);
  if (origin !== undefined) return origin;
  throw invalidOrigin("origin", describeOrigin(config.environment));
}

const SHOWN_CHARACTERS_MAX = 80;

function requireListedOrigin({ config }: PageOriginWorld, text: string, index: number): string {
  const origin = normalizePageOrigin(text, config.environment);
  if (origin !== undefined) return origin;
  const shown = JSON.stringify(text.slice(0, SHOWN_CHARACTERS_MAX));
  throw invalidOrigin(`origins[${index}]`, `${describeOrigin(config.environment)}, not ${shown}`);
}

function describeOrigin(environment: "test" | "live"): string {
  const scheme = environment === "live" ? "https://" : "https:// or http://";
  return `${scheme} with a host and an optional port, such as https://shop.example, without a path`;
}

function invalidOrigin(param: string, expected: string): Fault {
  return new Fault("invalid_request", { param, message: `${param} must be ${expected}.` });
}

function accountNotFound(): Fault {
  return new Fault("not_found", { message: "No such account." });
}
