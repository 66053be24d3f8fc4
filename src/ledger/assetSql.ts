import { sql, type RawBuilder } from "kysely";

/** An asset as the ledger stores it (CAIP-19), from SQL expressions of its chain and of its token as it is stored. */
export function assetSql(chain: RawBuilder<unknown>, token: RawBuilder<unknown>): RawBuilder<string> {
  return sql<string>`(${chain} || case when ${chain} like 'eip155:%' then '/erc20:' else '/token:' end || ${token})`;
}
