import type { Brand } from "../merchant/brand/brand.ts";
import { readBrand, updateBrand, type BrandChange } from "../merchant/brand/updateBrand.ts";
import type { World } from "../world.ts";
import { requireAccount } from "./accountOperations.ts";
import { getField, optionalNumber, optionalText, requiredText } from "./inputFields.ts";

/** How an account's checkout looks. `logo` is the type and the size of the stored image. */
export type BrandOutput = { accountId: string } & Omit<Brand, "logo"> & {
    logo: { type: string; bytes: number } | null;
  };

/** Changes the given fields: null removes a value, a missing field leaves it as it is. `logo` is a file's content in base64. */
export async function updateAccount(world: World, input: unknown): Promise<BrandOutput> {
  const accountId = requiredText(input, "accountId");
  await requireAccount(world, accountId);
  const change = readChange(input);
  const isChange = Object.keys(change).length > 0;
  const brand = isChange ? await updateBrand(world, accountId, change) : await readBrand(world, accountId);
  const { logo, ...others } = brand;
  return { accountId, ...others, logo: logo === null ? null : { type: logo.type, bytes: logo.bytes.length } };
}

function readChange(input: unknown): BrandChange {
  const isNull = (key: string) => getField(input, key) === null;
  const change: BrandChange = {};
  for (const key of ["accent", "accentDark", "font", "support"] as const) {
    const text = isNull(key) ? null : optionalText(input, key);
    if (text !== undefined) change[key] = text;
  }
  const radiusPx = isNull("radiusPx") ? null : optionalNumber(input, "radiusPx", { min: 0, max: 24 });
  if (radiusPx !== undefined) change.radiusPx = radiusPx;
  const logo = isNull("logo") ? null : optionalText(input, "logo");
  if (logo !== undefined) change.logo = logo === null ? null : Buffer.from(logo, "base64");
  return change;
}
