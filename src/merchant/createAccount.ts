import { findChainFacts, type Asset } from "../catalog/catalog.ts";
import { caip2, normalizeEvmAddress, type Namespace } from "../kernel/caip.ts";
import { Fault } from "../kernel/faults.ts";
import { newId } from "../kernel/ids.ts";
import type { World } from "../world.ts";
import { mayReceive } from "./evmWallet.ts";
import { solanaWalletFault } from "./solanaWallet.ts";
import { insertAccount, type AccountRow } from "./store.ts";

/** Where an account is paid unless an intent says otherwise. `currency` is a token's symbol. */
export type PayoutDefaults = { namespace: Namespace; chainReference: string; wallet: string; currency: string };

export type NewAccount = {
  name: string;
  payout?: PayoutDefaults;
  feeBps?: number;
  underpayToleranceBps?: number;
  /** EVM address that may rescue what was sent by mistake. */
  recovery?: string;
};

const FEE_BPS_MAX = 1_000;
const TOLERANCE_BPS_MAX = 500;
const NAME_CHARACTERS_MAX = 200;

/** Throws invalid_request naming what is wrong; nothing is written then. */
export async function createAccount(
  world: Pick<World, "db" | "clock" | "entropy" | "config" | "catalog">,
  input: NewAccount,
): Promise<AccountRow> {
  if (input.name.trim() === "" || input.name.length > NAME_CHARACTERS_MAX)
    throw invalid("name", `1 to ${NAME_CHARACTERS_MAX} characters`);
  const feeBps = wholeNumber("feeBps", input.feeBps ?? 0, FEE_BPS_MAX);
  const toleranceBps = wholeNumber("underpayToleranceBps", input.underpayToleranceBps ?? 0, TOLERANCE_BPS_MAX);
  const payout = input.payout === undefined ? undefined : checkedPayout(world, input.payout);
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
    recovery: input.recovery === undefined ? null : evmAddress("recovery", input.recovery),
    created_at: world.clock.now(),
  });
}

function checkedPayout(world: Pick<World, "catalog">, payout: PayoutDefaults): PayoutDefaults {
  const chain = caip2(payout.namespace, payout.chainReference);
  if (findChainFacts(world.catalog, chain) === undefined)
    throw invalid("payout.chainReference", `a configured chain, not ${chain}`);
  const rails = world.catalog.assets.filter((asset) => asset.chain === chain && asset.isRail);
  const rail = rails.find((asset) => asset.symbol === payout.currency);
  if (rail === undefined) throw invalid("payout.currency", symbolsOf(rails));
  const wallet =
    payout.namespace === "eip155"
      ? evmAddress("payout.wallet", payout.wallet)
      : solanaWallet("payout.wallet", payout.wallet);
  if (!mayReceive(world.catalog, wallet))
    throw invalid("payout.wallet", "a wallet, not a contract of the chain, of a token or of this service");
  return { ...payout, wallet };
}

function symbolsOf(rails: readonly Asset[]): string {
  return `one of ${rails.map((rail) => rail.symbol).join(", ")}`;
}

function wholeNumber(param: string, value: number, max: number): number {
  if (!Number.isInteger(value) || value < 0 || value > max) throw invalid(param, `a whole number from 0 to ${max}`);
  return value;
}

function evmAddress(param: string, text: string): string {
  const address = normalizeEvmAddress(text);
  if (address === undefined)
    throw invalid(param, "0x and 40 hex digits; in mixed case the EIP-55 checksum must be right");
  return address;
}

function solanaWallet(param: string, text: string): string {
  if (solanaWalletFault(text, new Set()) === undefined) return text;
  throw invalid(param, "a wallet on Solana: the base58 of 32 bytes, and no program's or token account's address");
}

function invalid(param: string, right: string): Fault {
  return new Fault("invalid_request", { param, message: `${param} must be ${right}.` });
}
