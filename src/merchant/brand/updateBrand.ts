import type { Db, Tx } from "../../db/database.ts";
import { Fault } from "../../kernel/faults.ts";
import { parseSupportAddress, SUPPORT_EXPECTED } from "../../kernel/text/supportAddress.ts";
import type { World } from "../../world.ts";
import { LOGO_EXPECTED, sanitizeLogo } from "../logo/logo.ts";
import { lockAccount } from "../store.ts";
import { parseColor, parseFont, RADIUS_PX_MAX, type Brand } from "./brand.ts";
import { findBrand, writeBrand, type BrandRow } from "./brandStore.ts";

/**
 * Texts as they were typed. Null removes a value, a missing field leaves it as it is. `logo` is the content of a file.
 */
export type BrandChange = {
  accent?: string | null | undefined;
  accentDark?: string | null | undefined;
  radiusPx?: number | null | undefined;
  font?: string | null | undefined;
  support?: string | null | undefined;
  logo?: Uint8Array | null | undefined;
};

const COLOR_EXPECTED = "a colour such as #0f5470";
const FONT_EXPECTED = "up to 6 font names of letters, digits, spaces and hyphens, separated by commas";

/** Changes how an account's checkout looks, and returns all of it. Throws not_found. */
export async function updateBrand(
  world: Pick<World, "db" | "clock">,
  accountId: string,
  change: Partial<Brand>,
): Promise<Brand> {
  return world.db.transaction((tx) => changeBrand(tx, world, { accountId, change }));
}

/** As `updateBrand`, in the caller's transaction. */
export async function changeBrand(
  tx: Tx,
  { clock }: Pick<World, "clock">,
  { accountId, change }: { accountId: string; change: Partial<Brand> },
): Promise<Brand> {
  if ((await lockAccount(tx, accountId)) === undefined) throw new Fault("not_found", { message: "No such account." });
  const brand = { ...toBrand(await findBrand(tx, accountId)), ...change };
  await writeBrand(tx, {
    account_id: accountId,
    accent: brand.accent,
    accent_dark: brand.accentDark,
    radius_px: brand.radiusPx,
    font: brand.font,
    support: brand.support,
    logo: brand.logo?.bytes ?? null,
    logo_type: brand.logo?.type ?? null,
    changed_at: clock.now(),
  });
  return brand;
}

/** The brand of an account; all null before the first change. */
export async function readBrand({ db }: { db: Db }, accountId: string): Promise<Brand> {
  return toBrand(await findBrand(db.root, accountId));
}

function toBrand(row: BrandRow | undefined): Brand {
  const { logo = null, logo_type: type = null } = row ?? {};
  return {
    accent: row?.accent ?? null,
    accentDark: row?.accent_dark ?? null,
    radiusPx: row?.radius_px ?? null,
    font: row?.font ?? null,
    support: row?.support ?? null,
    logo: logo === null || type === null ? null : { type, bytes: logo },
  };
}

/** Parses what was typed. Throws invalid_request that names the field, with `path` before its name. */
export function parseBrandChange(change: BrandChange, path = ""): Partial<Brand> {
  const { accent, accentDark, radiusPx, font, support, logo } = change;
  const radiusExpected = `a whole number from 0 to ${RADIUS_PX_MAX}`;
  const parseField = createFieldParser(path);
  return {
    ...parseField("accent", accent, { parse: parseColor, expected: COLOR_EXPECTED }),
    ...parseField("accentDark", accentDark, { parse: parseColor, expected: COLOR_EXPECTED }),
    ...parseField("radiusPx", radiusPx, { parse: parseRadius, expected: radiusExpected }),
    ...parseField("font", font, { parse: parseFont, expected: FONT_EXPECTED }),
    ...parseField("support", support, { parse: parseSupportAddress, expected: SUPPORT_EXPECTED }),
    ...parseField("logo", logo, { parse: sanitizeLogo, expected: LOGO_EXPECTED }),
  };
}

function parseRadius(radiusPx: number): number | undefined {
  return Number.isInteger(radiusPx) && radiusPx >= 0 && radiusPx <= RADIUS_PX_MAX ? radiusPx : undefined;
}

type FieldParser<V, T> = { parse: (value: V) => T | undefined; expected: string };

function createFieldParser(path: string) {
  return <K extends keyof Brand, V>(
    field: K,
    value: V | null | undefined,
    { parse, expected }: FieldParser<V, Brand[K]>,
  ): { [P in K]?: Brand[K] } => {
    if (value === undefined) return {};
    const parsed = value === null ? null : parse(value);
    const param = `${path}${field}`;
    if (parsed === undefined) throw new Fault("invalid_request", { param, message: `${param} must be ${expected}.` });
    return { [field]: parsed } as { [P in K]: Brand[K] };
  };
}
