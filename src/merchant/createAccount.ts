import { findChainDescription, type Asset } from "../catalog/catalog.ts";
import { caip2, normalizeEvmAddress, type Namespace } from "../kernel/caip.ts";
import { Fault } from "../kernel/faults.ts";
import { newId } from "../kernel/ids.ts";
import type { World } from "../world.ts";
import { canReceivePayout } from "./evmWallet.ts";
import { findSolanaWalletProblem } from "./solanaWallet.ts";
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
};

const FEE_BPS_MAX = 1_000;
const TOLERANCE_BPS_MAX = 500;
const NAME_CHARACTERS_MAX = 200;

/** Throws invalid_request that names the invalid field; nothing is written then. */
export async function createAccount(
  world: Pick<World, "db" | "clock" | "entropy" | "config" | "catalog">,
  input: NewAccount,
): Promise<AccountRow> {
  if (input.name.trim() === "" || input.name.length > NAME_CHARACTERS_MAX)
    throw invalidParam("name", `1 to ${NAME_CHARACTERS_MAX} characters`);
  const feeBps = requireInteger("feeBps", input.feeBps ?? 0, FEE_BPS_MAX);
  const toleranceBps = requireInteger("underpayToleranceBps", input.underpayToleranceBps ?? 0, TOLERANCE_BPS_MAX);
  const payout = input.payout === undefined ? undefined : validatePayout(world, input.payout);
  return insertAccount(world.db, {
    id: newId("acct", world.entropy),
    name: input.name,
    environment: world.config.environment,
    payout_namespace: payout?.namespace ?? null,
    payout_chain_reference: payout?.chainReference ?? null,
    payout_wallet: payout?.wallet ?? null,
    currency: payout?.currency ?? null,
    fee_bps: feeBps,
    underpay_tolerance_bps: toleranceBps,
    recovery: input.recovery === undefined ? null : requireEvmAddress("recovery", input.recovery),
    created_at: world.clock.now(),
  });
}

function validatePayout(world: Pick<World, "catalog">, payout: PayoutDefaults): PayoutDefaults {
  const chain = caip2(payout.namespace, payout.chainReference);
  if (findChainDescription(world.catalog, chain) === undefined)
    throw invalidParam("payout.chainReference", `a configured chain, not ${chain}`);
  const rails = world.catalog.assets.filter((asset) => asset.chain === chain && asset.isRail);
  const rail = rails.find((asset) => asset.symbol === payout.currency);
  if (rail === undefined) throw invalidParam("payout.currency", symbolsOf(rails));
  const wallet =
    payout.namespace === "eip155"
      ? requireEvmAddress("payout.wallet", payout.wallet)
      : requireSolanaWallet("payout.wallet", payout.wallet);
  if (!canReceivePayout(world.catalog, wallet))
    throw invalidParam("payout.wallet", "a wallet, not a contract of the chain, of a token or of this service");
  return { ...payout, wallet };
}

function symbolsOf(rails: readonly Asset[]): string {
  return `one of ${rails.map((rail) => rail.symbol).join(", ")}`;
}

function requireInteger(param: string, value: number, max: number): number {
  if (!Number.isInteger(value) || value < 0 || value > max)
    throw invalidParam(param, `a whole number from 0 to ${max}`);
  return value;
}

function requireEvmAddress(param: string, text: string): string {
  const address = normalizeEvmAddress(text);
  if (address === undefined)
    throw invalidParam(param, "0x and 40 hex digits; mixed case needs a correct EIP-55 checksum");
  return address;
}

function requireSolanaWallet(param: string, text: string): string {
  if (findSolanaWalletProblem(text, new Set()) === undefined) return text;
  throw invalidParam(param, "a Solana wallet: base58 of 32 bytes, and not the address of a program or a token account");
}

function invalidParam(param: string, expected: string): Fault {
  return new Fault("invalid_request", { param, message: `${param} must be ${expected}.` });
}
