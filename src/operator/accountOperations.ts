import { caip2, displayAddress, namespaceOf, referenceOf, type Namespace } from "../kernel/caip.ts";
import { RADIUS_PX_MAX, type Brand } from "../merchant/brand/brand.ts";
import { parseBrandChange, readBrand, updateBrand, type BrandChange } from "../merchant/brand/updateBrand.ts";
import { toOtherPayout } from "../merchant/accountRecord.ts";
import { createAccount as createMerchant, type PayoutDefaults } from "../merchant/createAccount.ts";
import { listAccounts as listMerchants } from "../merchant/listAccounts.ts";
import type { NamespaceDefault } from "../merchant/namespaceDefault.ts";
import { setAccountStatus } from "../merchant/setAccountStatus.ts";
import { updateAccount as updateMerchant } from "../merchant/updateAccount.ts";
import type { AccountRow } from "../merchant/store.ts";
import { requireUrl, secretText } from "../webhook/endpoint/endpoint.ts";
import { readAccountWebhooks } from "../webhook/notice/accountWebhooks.ts";
import { setNotifyUrl, type Notification } from "../webhook/notice/setNotifyUrl.ts";
import type { World } from "../world.ts";
import { findChainByName, unknownChainMessage } from "../config/chainName.ts";
import { CommandError } from "./errors.ts";
import { warnOfRecovery } from "./recoveryReach.ts";
import { limitOf, PAGE_FIELDS, toPage } from "./lists/page.ts";
import {
  clearableNumber,
  clearableText,
  requiredText,
  optionalNumber,
  optionalText,
  type InputOf,
} from "./operation/inputFields.ts";
import { getAccount } from "./team/getAccount.ts";
import { proposeWhatWaits, type PayoutChangeOutput } from "./team/payoutChangeOperations.ts";
import { defineOperatorOperation } from "./operation/operatorOperation.ts";

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
  /** The default beside `payout`, of the keys that are bound to it: one on an EVM chain, one on Solana. */
  evmPayout: { chain: string; wallet: string } | null;
  solanaPayout: { chain: string; wallet: string } | null;
  /** CAIP-19 ids of the origins that its intents may use; null for all. */
  origins: string[] | null;
  /** Its rate limits are so many times those of every account. */
  limitMultiple: number;
  createdAt: string;
};

/** `warnings` are about the account's recovery. */
export type WarnedAccount = AccountOutput & { warnings: string[] };

/** As the database has it. */
const LIMIT_MULTIPLE_MAX = 50;

/** The terms of an account, which its new intents pin. */
const TERMS = {
  chain: optionalText,
  wallet: optionalText,
  currency: optionalText,
  feeBps: optionalNumber({ min: 0, max: 1_000 }),
  underpayToleranceBps: optionalNumber({ min: 0, max: 500 }),
  recovery: optionalText,
  solanaRecovery: optionalText,
} as const;

export const createAccount = defineOperatorOperation({
  effect: "write",
  input: { name: requiredText, ...TERMS },
  async run(world, input): Promise<WarnedAccount> {
    const payout = readPayoutDefaults(world, input);
    const { name, recovery, solanaRecovery, underpayToleranceBps } = input;
    const row = await createMerchant(world, {
      name,
      feeBps: input.feeBps ?? world.config.feeBps ?? 0,
      ...(payout === undefined ? {} : { payout }),
      ...(underpayToleranceBps === undefined ? {} : { underpayToleranceBps }),
      ...(recovery === undefined ? {} : { recovery }),
      ...(solanaRecovery === undefined ? {} : { solanaRecovery }),
    });
    return { ...toAccountOutput(row), warnings: await warnOfRecovery(world, row) };
  },
});

export const listAccounts = defineOperatorOperation({
  effect: "read",
  input: PAGE_FIELDS,
  async run(world, { cursor, ...page }) {
    const limit = limitOf(page);
    const rows = await listMerchants(world, { limit: limit + 1, after: cursor });
    return toPage(rows.map(toAccountOutput), limit, ({ accountId }) => accountId);
  },
});

export type AccountDetails = AccountOutput & {
  /** The last sequence of its feed, which is the number of its events unless a sequence skipped. */
  lastEventSequence: number;
  webhookEndpoints: { enabled: number; disabled: number };
  notifyUrl: string | null;
};

export const showAccount = defineOperatorOperation({
  effect: "read",
  input: { accountId: requiredText },
  async run(world, { accountId }): Promise<AccountDetails> {
    const account = toAccountOutput(await getAccount(world, accountId));
    const { lastSequence, enabled, disabled, notifyUrl } = await readAccountWebhooks(world.db, accountId);
    return {
      ...account,
      lastEventSequence: Number(lastSequence),
      webhookEndpoints: { enabled, disabled },
      notifyUrl,
    };
  },
});

export type AccountChangeOutput = WarnedAccount & {
  payoutBefore: AccountOutput["payout"];
  /** Where the account is told of failing endpoints, if the call changed it; the secret is shown this once. */
  notification?: { url: string; secret: string } | null;
  /** What waits before it takes effect, where a change of the payout waits. */
  proposal?: PayoutChangeOutput;
};

/**
 * Changes the given fields. The text "none" removes a recovery key or `origins`. `payoutBefore` differs from `payout`
 * when that changed.
 */
export const changeAccount = defineOperatorOperation({
  effect: "write",
  input: {
    accountId: requiredText,
    name: optionalText,
    origins: optionalText,
    evmChain: optionalText,
    evmWallet: optionalText,
    solanaChain: optionalText,
    solanaWallet: optionalText,
    notifyUrl: optionalText,
    limits: optionalNumber({ min: 1, max: LIMIT_MULTIPLE_MAX }),
    ...TERMS,
  },
  async run(world, input): Promise<AccountChangeOutput> {
    const { accountId, name, origins, feeBps, underpayToleranceBps, recovery, solanaRecovery, limits } = input;
    const payout = readPayoutDefaults(world, input, toAccountOutput(await getAccount(world, accountId)).payout);
    const evmDefault = readDefault(world, "eip155", { chain: input.evmChain, wallet: input.evmWallet });
    const solanaDefault = readDefault(world, "solana", { chain: input.solanaChain, wallet: input.solanaWallet });
    const url = input.notifyUrl === undefined ? undefined : orNull(input.notifyUrl);
    if (url !== undefined && url !== null) requireUrl(world.config, url, "notifyUrl");
    const { rest, proposal } = await proposeWhatWaits(world, accountId, {
      ...(name === undefined ? {} : { name }),
      ...(feeBps === undefined ? {} : { feeBps }),
      ...(underpayToleranceBps === undefined ? {} : { underpayToleranceBps }),
      ...(recovery === undefined ? {} : { recovery: orNull(recovery) }),
      ...(solanaRecovery === undefined ? {} : { solanaRecovery: orNull(solanaRecovery) }),
      ...(origins === undefined ? {} : { origins: orNull(origins)?.split(",") ?? null }),
      ...(payout === undefined ? {} : { payout }),
      ...(limits === undefined ? {} : { limitMultiple: limits }),
      ...(evmDefault === undefined ? {} : { evmDefault }),
      ...(solanaDefault === undefined ? {} : { solanaDefault }),
    });
    const { before, after } = await updateMerchant(world, { accountId, change: rest });
    const warnings = await warnOfRecovery(world, after);
    // Last: its secret is shown once, and no other field may fail any more.
    const notification = url === undefined ? undefined : await setNotifyUrl(world, { accountId, url });
    return {
      ...toAccountOutput(after),
      ...(notification === undefined ? {} : { notification: notification && toNotificationOutput(notification) }),
      ...(proposal === undefined ? {} : { proposal }),
      warnings,
      payoutBefore: toAccountOutput(before).payout,
    };
  },
});

function toNotificationOutput({ url, secret }: Notification) {
  return { url, secret: secretText(secret) };
}

/** The default destination beside the account's own; null removes it, undefined leaves it. */
function readDefault(
  world: World,
  namespace: Namespace,
  { chain: name, wallet }: { chain: string | undefined; wallet: string | undefined },
): NamespaceDefault | null | undefined {
  if (name === undefined && wallet === undefined) return undefined;
  if (name === undefined && wallet === "none") return null;
  const [place, option] = namespace === "solana" ? ["Solana", "solana"] : ["an EVM chain", "evm"];
  if (name === undefined || wallet === undefined)
    throw new CommandError(`A default destination on ${place} needs both --${option}-chain and --${option}-wallet.`);
  const { knownChains: chains } = world.catalog;
  const chain = findChainByName(chains, name);
  if (chain === undefined) throw new CommandError(unknownChainMessage(chains, name));
  if (namespaceOf(chain.caip2) !== namespace)
    throw new CommandError(`${chain.name} is not ${place === "Solana" ? "a cluster of Solana" : place}.`);
  return { chainReference: referenceOf(chain.caip2), wallet };
}

function orNull(text: string): string | null {
  return text === "none" ? null : text;
}

export const suspendAccount = defineStatusChange("suspended");
export const resumeAccount = defineStatusChange("active");

function defineStatusChange(status: AccountOutput["status"]) {
  return defineOperatorOperation({
    effect: "write",
    input: { accountId: requiredText },
    run: async (world, { accountId }) => toAccountOutput(await setAccountStatus(world, { accountId, status })),
  });
}

/**
 * Reads the default destination; undefined without chain, wallet and currency. What is missing comes from `present`.
 */
function readPayoutDefaults(
  world: World,
  given: Pick<InputOf<typeof TERMS>, "chain" | "wallet" | "currency">,
  present: AccountOutput["payout"] = null,
): PayoutDefaults | undefined {
  if (given.chain === undefined && given.wallet === undefined && given.currency === undefined) return undefined;
  const name = given.chain ?? present?.chain;
  const wallet = given.wallet ?? present?.wallet ?? undefined;
  if (name === undefined || wallet === undefined)
    throw new CommandError("A default destination needs both --chain and --wallet.");
  const { knownChains: chains } = world.catalog;
  const chain = findChainByName(chains, name);
  if (chain === undefined) throw new CommandError(unknownChainMessage(chains, name));
  const kept = given.chain === undefined ? (present?.currency ?? undefined) : undefined;
  const currency = given.currency ?? kept ?? chain.defaultToken;
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
    evmPayout: toOtherPayout(row, "eip155"),
    solanaPayout: toOtherPayout(row, "solana"),
    origins: row.origins,
    limitMultiple: row.limit_multiple,
    createdAt: row.created_at.toISOString(),
  };
}

/** How an account's checkout looks. `logo` is the type and the size of the stored image. */
export type BrandOutput = { accountId: string } & Omit<Brand, "logo"> & {
    logo: { type: string; bytes: number } | null;
  };

/**
 * Changes the given fields: null removes a value, a missing field leaves it as it is. `logo` is a file's content in
 * base64.
 */
export const updateAccountBrand = defineOperatorOperation({
  effect: "write",
  input: {
    accountId: requiredText,
    accent: clearableText,
    accentDark: clearableText,
    font: clearableText,
    support: clearableText,
    radiusPx: clearableNumber({ min: 0, max: RADIUS_PX_MAX }),
    logo: clearableText,
  },
  async run(world, { accountId, ...given }): Promise<BrandOutput> {
    await getAccount(world, accountId);
    const change = toBrandChange(given);
    const isChange = Object.keys(change).length > 0;
    const brand = isChange
      ? await updateBrand(world, accountId, parseBrandChange(change))
      : await readBrand(world, accountId);
    const { logo, ...others } = brand;
    return { accountId, ...others, logo: logo === null ? null : { type: logo.type, bytes: logo.bytes.length } };
  },
});

type GivenBrand = { [Key in Exclude<keyof BrandChange, "logo">]-?: BrandChange[Key] | undefined } & {
  logo: string | null | undefined;
};

function toBrandChange({ accent, accentDark, font, support, radiusPx, logo }: GivenBrand): BrandChange {
  return {
    ...(accent === undefined ? {} : { accent }),
    ...(accentDark === undefined ? {} : { accentDark }),
    ...(font === undefined ? {} : { font }),
    ...(support === undefined ? {} : { support }),
    ...(radiusPx === undefined ? {} : { radiusPx }),
    ...(logo === undefined ? {} : { logo: logo === null ? null : Buffer.from(logo, "base64") }),
  };
}
