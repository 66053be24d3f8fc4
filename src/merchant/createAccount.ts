import { findChainDescription, type Asset } from "../catalog/catalog.ts";
import { addressFormatOf } from "../chain/namespaces.ts";
import { caip2, type Namespace } from "../kernel/caip.ts";
import { Fault } from "../kernel/faults.ts";
import { newId } from "../kernel/ids.ts";
import type { World } from "../world.ts";
import { isOwnPayer } from "./ownPayer.ts";
import { insertAccount, type AccountRow } from "./store.ts";

/** The default payout of an account's intents. `currency` is a token's symbol. */
export type PayoutDefaults = { namespace: Namespace; chainReference: string; wallet: string; currency: string };

export type NewAccount = {
  name: string;
  payout?: PayoutDefaults;
  feeBps?: number;
  underpayToleranceBps?: number;
  /** An EVM address that may recover tokens sent by mistake. */
  recovery?: string;
  /** The same for inboxes on Solana. */
  solanaRecovery?: string;
};

const FEE_BPS_MAX = 1_000;
const TOLERANCE_BPS_MAX = 500;
const NAME_CHARACTERS_MAX = 200;

/** Throws invalid_request that names the invalid field; nothing is written then. */
export async function createAccount(
  world: Pick<World, "db" | "clock" | "entropy" | "config" | "catalog"> & Partial<Pick<World, "chains">>,
  input: NewAccount,
): Promise<AccountRow> {
  const name = requireName(input.name);
  const feeBps = requireFeeBps(input.feeBps ?? 0);
  const toleranceBps = requireToleranceBps(input.underpayToleranceBps ?? 0);
  const payout = input.payout === undefined ? undefined : validatePayout(world, input.payout);
  return insertAccount(world.db, {
    id: newId("acct", world.entropy),
    name,
    environment: world.config.environment,
    payout_namespace: payout?.namespace ?? null,
    payout_chain_reference: payout?.chainReference ?? null,
    payout_wallet: payout?.wallet ?? null,
    currency: payout?.currency ?? null,
    fee_bps: feeBps,
    underpay_tolerance_bps: toleranceBps,
    recovery: input.recovery === undefined ? null : requireRecovery(input.recovery),
    solana_recovery: input.solanaRecovery === undefined ? null : requireSolanaRecovery(world, input.solanaRecovery),
    created_at: world.clock.now(),
  });
}

export function requireName(name: string): string {
  if (name.trim() !== "" && name.length <= NAME_CHARACTERS_MAX) return name;
  throw invalidParam("name", `1 to ${NAME_CHARACTERS_MAX} characters`);
}

export function requireFeeBps(value: number): number {
  return requireInteger("feeBps", value, FEE_BPS_MAX);
}

export function requireToleranceBps(value: number): number {
  return requireInteger("underpayToleranceBps", value, TOLERANCE_BPS_MAX);
}

/** Throws invalid_request for a wallet that cannot be paid. */
export function validatePayout(
  world: Pick<World, "catalog"> & Partial<Pick<World, "chains">>,
  payout: PayoutDefaults,
): PayoutDefaults {
  const chain = caip2(payout.namespace, payout.chainReference);
  if (findChainDescription(world.catalog, chain) === undefined)
    throw invalidParam("payout.chainReference", `a configured chain, not ${chain}`);
  const rails = world.catalog.assets.filter((asset) => asset.chain === chain && asset.isRail);
  const rail = rails.find((asset) => asset.symbol === payout.currency);
  if (rail === undefined) throw invalidParam("payout.currency", symbolsOf(rails));
  const format = addressFormatOf(payout.namespace);
  const parsed = format.parseWallet(payout.wallet, world.catalog.contracts);
  if (!("address" in parsed)) throw invalidParam("payout.wallet", format.expectedWallet);
  if (format.isContract(parsed.address, world.catalog.contracts))
    throw invalidParam("payout.wallet", "a wallet, not a contract of the chain, of a token or of this service");
  if (isOwnPayer(world, parsed.address))
    throw invalidParam("payout.wallet", "the merchant's own wallet, not the account from which this service pays fees");
  return { ...payout, wallet: parsed.address };
}

function symbolsOf(rails: readonly Asset[]): string {
  return `one of ${rails.map((rail) => rail.symbol).join(", ")}`;
}

function requireInteger(param: string, value: number, max: number): number {
  if (!Number.isInteger(value) || value < 0 || value > max)
    throw invalidParam(param, `a whole number from 0 to ${max}`);
  return value;
}

/** A key that signs: no other address can ask the inbox program for a rescue. */
export function requireSolanaRecovery({ catalog }: Pick<World, "catalog">, text: string): string {
  const format = addressFormatOf("solana");
  const parsed = format.parseWallet(text, catalog.contracts);
  if (!("address" in parsed)) throw invalidParam("solanaRecovery", format.expectedWallet);
  return parsed.address;
}

/** An address on EVM chains. */
export function requireRecovery(text: string): string {
  const format = addressFormatOf("eip155");
  const address = format.parse(text);
  if (address === undefined) throw invalidParam("recovery", format.expected);
  return address;
}

function invalidParam(param: string, expected: string): Fault {
  return new Fault("invalid_request", { param, message: `${param} must be ${expected}.` });
}
