import { caip2, displayAddress, namespaceOf, referenceOf } from "../kernel/caip.ts";
import { RADIUS_PX_MAX, type Brand } from "../merchant/brand/brand.ts";
import { parseBrandChange, readBrand, updateBrand, type BrandChange } from "../merchant/brand/updateBrand.ts";
import { createAccount as createMerchant, type PayoutDefaults } from "../merchant/createAccount.ts";
import { listAccounts as listMerchants } from "../merchant/listAccounts.ts";
import { setAccountStatus } from "../merchant/setAccountStatus.ts";
import { updateAccount as updateMerchant } from "../merchant/updateAccount.ts";
import { findAccount, type AccountRow } from "../merchant/store.ts";
import type { World } from "../world.ts";
import { findChainByName, unknownChainMessage } from "../config/chainName.ts";
import { CommandError } from "./errors.ts";
import { readPage, toPage, type Page } from "./lists/page.ts";
import { getField, requiredText, optionalNumber, optionalText } from "./inputFields.ts";

export type AccountOutput = {
  accountId: string;
  name: string;
  environment: "test" | "live";
  status: "active" | "suspended";
  payout: { chain: string; wallet: string | null; currency: string | null } | null;
  feeBps: number;
  underpayToleranceBps: number;
  recovery: string | null;
  solanaRecovery: string | null;
  /** CAIP-19 ids of the origins that its intents may use; null for all. */
  origins: string[] | null;
  createdAt: string;
};

export async function createAccount(world: World, input: unknown): Promise<AccountOutput> {
  const payout = readPayoutDefaults(world, input);
  const recovery = optionalText(input, "recovery");
  const solanaRecovery = optionalText(input, "solanaRecovery");
  const tolerance = optionalNumber(input, "underpayToleranceBps", { min: 0, max: 500 });
  const row = await createMerchant(world, {
    name: requiredText(input, "name"),
    feeBps: optionalNumber(input, "feeBps", { min: 0, max: 1_000 }) ?? world.config.feeBps ?? 0,
    ...(payout === undefined ? {} : { payout }),
    ...(tolerance === undefined ? {} : { underpayToleranceBps: tolerance }),
    ...(recovery === undefined ? {} : { recovery }),
    ...(solanaRecovery === undefined ? {} : { solanaRecovery }),
  });
  return toAccountOutput(row);
}

export async function listAccounts(world: World, input: unknown): Promise<Page<AccountOutput>> {
  const page = readPage(input);
  const rows = await listMerchants(world, { limit: page.limit + 1, after: page.cursor });
  return toPage(rows.map(toAccountOutput), page.limit, ({ accountId }) => accountId);
}

export async function showAccount(world: World, input: unknown): Promise<AccountOutput> {
  const accountId = requiredText(input, "accountId");
  const row = await findAccount(world.db, accountId);
  if (row === undefined) throw new CommandError(`There is no account ${accountId}.`);
  return toAccountOutput(row);
}

export type AccountChangeOutput = AccountOutput & { payoutBefore: AccountOutput["payout"] };

/** Changes the given fields. The text "none" removes a recovery key or `origins`. `payoutBefore` differs from `payout` when that changed. */
export async function changeAccount(world: World, input: unknown): Promise<AccountChangeOutput> {
  const accountId = requiredText(input, "accountId");
  const row = await findAccount(world.db, accountId);
  if (row === undefined) throw new CommandError(`There is no account ${accountId}.`);
  const payout = readPayoutDefaults(world, input, toAccountOutput(row).payout);
  const [name, recovery, solanaRecovery, origins] = [
    optionalText(input, "name"),
    optionalText(input, "recovery"),
    optionalText(input, "solanaRecovery"),
    optionalText(input, "origins"),
  ];
  const feeBps = optionalNumber(input, "feeBps", { min: 0, max: 1_000 });
  const tolerance = optionalNumber(input, "underpayToleranceBps", { min: 0, max: 500 });
  const { before, after } = await updateMerchant(world, {
    accountId,
    change: {
      ...(name === undefined ? {} : { name }),
      ...(feeBps === undefined ? {} : { feeBps }),
      ...(tolerance === undefined ? {} : { underpayToleranceBps: tolerance }),
      ...(recovery === undefined ? {} : { recovery: recovery === "none" ? null : recovery }),
      ...(solanaRecovery === undefined ? {} : { solanaRecovery: solanaRecovery === "none" ? null : solanaRecovery }),
      ...(origins === undefined ? {} : { origins: origins === "none" ? null : origins.split(",") }),
      ...(payout === undefined ? {} : { payout }),
    },
  });
  return { ...toAccountOutput(after), payoutBefore: toAccountOutput(before).payout };
}

export async function suspendAccount(world: World, input: unknown): Promise<AccountOutput> {
  const accountId = requiredText(input, "accountId");
  return toAccountOutput(await setAccountStatus(world, { accountId, status: "suspended" }));
}

export async function resumeAccount(world: World, input: unknown): Promise<AccountOutput> {
  const accountId = requiredText(input, "accountId");
  return toAccountOutput(await setAccountStatus(world, { accountId, status: "active" }));
}

/** Reads the optional account filter. Throws CommandError for an unknown account, because its list would look empty. */
export async function readAccountFilter(world: World, input: unknown): Promise<string | undefined> {
  const accountId = optionalText(input, "accountId");
  if (accountId !== undefined) await requireAccount(world, accountId);
  return accountId;
}

export async function requireAccount(world: World, accountId: string): Promise<void> {
  const account = await findAccount(world.db, accountId);
  if (account === undefined) throw new CommandError(`There is no account ${accountId}.`);
}

/** Reads the default destination; undefined without chain, wallet and currency. What is missing comes from `present`. */
function readPayoutDefaults(
  world: World,
  input: unknown,
  present: AccountOutput["payout"] = null,
): PayoutDefaults | undefined {
  const typed = [optionalText(input, "chain"), optionalText(input, "wallet"), optionalText(input, "currency")];
  if (typed.every((each) => each === undefined)) return undefined;
  const name = typed[0] ?? present?.chain;
  const wallet = typed[1] ?? present?.wallet ?? undefined;
  if (name === undefined || wallet === undefined)
    throw new CommandError("A default destination needs both --chain and --wallet.");
  const { knownChains: chains } = world.catalog;
  const chain = findChainByName(chains, name);
  if (chain === undefined) throw new CommandError(unknownChainMessage(chains, name));
  const kept = typed[0] === undefined ? (present?.currency ?? undefined) : undefined;
  const currency = typed[2] ?? kept ?? chain.defaultToken;
  if (currency === undefined) throw new CommandError(`${chain.name} has several tokens: name one in --currency.`);
  return { namespace: namespaceOf(chain.caip2), chainReference: referenceOf(chain.caip2), wallet, currency };
}

function toAccountOutput(row: AccountRow): AccountOutput {
  const chain =
    row.payout_namespace === null ? undefined : caip2(row.payout_namespace, row.payout_chain_reference ?? "");
  return {
    accountId: row.id,
    name: row.name,
    environment: row.environment,
    status: row.status,
    payout:
      chain === undefined
        ? null
        : {
            chain,
            wallet: row.payout_wallet === null ? null : displayAddress(chain, row.payout_wallet),
            currency: row.currency,
          },
    feeBps: row.fee_bps,
    underpayToleranceBps: row.underpay_tolerance_bps,
    recovery: row.recovery === null ? null : displayAddress("eip155:1", row.recovery),
    solanaRecovery: row.solana_recovery,
    origins: row.origins,
    createdAt: row.created_at.toISOString(),
  };
}

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
  const brand = isChange
    ? await updateBrand(world, accountId, parseBrandChange(change))
    : await readBrand(world, accountId);
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
  const radiusPx = isNull("radiusPx") ? null : optionalNumber(input, "radiusPx", { min: 0, max: RADIUS_PX_MAX });
  if (radiusPx !== undefined) change.radiusPx = radiusPx;
  const logo = isNull("logo") ? null : optionalText(input, "logo");
  if (logo !== undefined) change.logo = logo === null ? null : Buffer.from(logo, "base64");
  return change;
}
