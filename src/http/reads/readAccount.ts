import { toAccountRecord } from "../../merchant/accountRecord.ts";
import { toDataUrl } from "../../merchant/logo/dataUrl.ts";
import { readBrand } from "../../merchant/brand/updateBrand.ts";
import type { World } from "../../world.ts";
import type { ValidatedRequest } from "../operation.ts";

/** Reads the account of a request's key with its looks, the key's scopes and the rate limits. */
export async function readAccount(
  world: Pick<World, "db">,
  { account, scopes, limits }: Pick<ValidatedRequest, "account" | "scopes" | "limits">,
) {
  const { accent, accentDark, radiusPx: radius, font, support, logo } = await readBrand(world, account.id);
  return {
    ...toAccountRecord(account),
    environment: account.environment,
    brand: { accent, accentDark, radius, font, logo: logo === null ? null : toDataUrl(logo) },
    support,
    scopes,
    limits: [...limits()],
  };
}
