import { caip2, displayAddress, namespaceOf, referenceOf } from "../../kernel/caip.ts";
import { createAccount as createMerchant, type PayoutDefaults } from "../../merchant/createAccount.ts";
import { listAccounts as listMerchants } from "../../merchant/listMerchants.ts";
import { setAccountStatus } from "../../merchant/setAccountStatus.ts";
import { findAccount, type AccountRow } from "../../merchant/store.ts";
import type { World } from "../../world.ts";
import { findNamedChain, unknownChain } from "../chainName.ts";
import { CommandFailed } from "../command.ts";
import { neededText, optionalNumber, optionalText } from "./input.ts";

export type ShownAccount = {
  accountId: string;
  name: string;
  environment: "test" | "live";
  status: "active" | "suspended";
  payout: { chain: string; wallet: string | null; currency: string | null } | null;
  feeBps: number;
  underpayToleranceBps: number;
  recovery: string | null;
  createdAt: string;
};

export async function createAccount(world: World, input: unknown): Promise<ShownAccount> {
  const payout = payoutOf(world, input);
  const recovery = optionalText(input, "recovery");
  const tolerance = optionalNumber(input, "underpayToleranceBps", { least: 0, most: 500 });
  const row = await createMerchant(world, {
    name: neededText(input, "name"),
    feeBps: optionalNumber(input, "feeBps", { least: 0, most: 1_000 }) ?? world.config.feeBps ?? 0,
    ...(payout === undefined ? {} : { payout }),
    ...(tolerance === undefined ? {} : { underpayToleranceBps: tolerance }),
    ...(recovery === undefined ? {} : { recovery }),
  });
  return shownAccount(row);
}

export async function listAccounts(world: World): Promise<ShownAccount[]> {
  return (await listMerchants(world)).map(shownAccount);
}

export async function suspendAccount(world: World, input: unknown): Promise<ShownAccount> {
  const accountId = neededText(input, "accountId");
  return shownAccount(await setAccountStatus(world, { accountId, status: "suspended" }));
}

export async function resumeAccount(world: World, input: unknown): Promise<ShownAccount> {
  const accountId = neededText(input, "accountId");
  return shownAccount(await setAccountStatus(world, { accountId, status: "active" }));
}

/** The account that a question is limited to, if it is. Throws CommandFailed where there is none: nobody's list would look like an empty one. */
export async function optionalAccount(world: World, input: unknown): Promise<string | undefined> {
  const accountId = optionalText(input, "accountId");
  if (accountId !== undefined) await refuseNobody(world, accountId);
  return accountId;
}

export async function refuseNobody(world: World, accountId: string): Promise<void> {
  const account = await findAccount(world.db, accountId);
  if (account === undefined) throw new CommandFailed(`There is no account ${accountId}.`);
}

/** The default destination, from a chain by name and a wallet; undefined when neither is given. */
function payoutOf(world: World, input: unknown): PayoutDefaults | undefined {
  const [name, wallet] = [optionalText(input, "chain"), optionalText(input, "wallet")];
  if (name === undefined && wallet === undefined) return undefined;
  if (name === undefined || wallet === undefined)
    throw new CommandFailed("A default destination needs both a chain and a wallet.");
  const { knownChains: chains } = world.catalog;
  const chain = findNamedChain(chains, name);
  if (chain === undefined) throw new CommandFailed(unknownChain(chains, name));
  const currency = optionalText(input, "currency") ?? chain.defaultToken;
  if (currency === undefined) throw new CommandFailed(`${chain.name} has several tokens: say which with --currency.`);
  return { namespace: namespaceOf(chain.caip2), chainReference: referenceOf(chain.caip2), wallet, currency };
}

function shownAccount(row: AccountRow): ShownAccount {
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
    createdAt: row.created_at.toISOString(),
  };
}
