import { sql } from "kysely";
import type { Db } from "../../db/database.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import type { Brand } from "../../merchant/brand/brand.ts";

/**
 * What the page of an intent has before a session is open: its looks, the web origins that may frame it, and where it
 * pays out.
 */
export type PageBrand = Pick<Brand, "accent" | "accentDark" | "radiusPx" | "font"> & {
  hasLogo: boolean;
  origins: string[];
  payoutChain: Caip2;
};

/** Reads them in one statement; undefined for an unknown id. */
export async function findPageBrand(db: Db, intentId: string): Promise<PageBrand | undefined> {
  const { rows } = await sql<PageBrand>`/* shared: find_page_brand */
    select brand.accent, brand.accent_dark as "accentDark", brand.radius_px as "radiusPx", brand.font,
      brand.logo_type is not null as "hasLogo",
      intent.payout_namespace || ':' || intent.payout_chain_reference as "payoutChain",
      array(select origin from page_origin where page_origin.account_id = intent.account_id order by origin) as origins
    from intent left join account_brand brand on brand.account_id = intent.account_id
    where intent.id = ${intentId}`.execute(db.root);
  return rows[0];
}

export type PageLogo = { type: "image/png" | "image/svg+xml"; bytes: Uint8Array };

/** The logo of an intent's account; undefined without one. */
export async function findPageLogo(db: Db, intentId: string): Promise<PageLogo | undefined> {
  const { rows } = await sql<PageLogo>`
    select brand.logo as bytes, brand.logo_type as type
    from intent join account_brand brand on brand.account_id = intent.account_id
    where intent.id = ${intentId} and brand.logo_type is not null`.execute(db.root);
  return rows[0];
}
