import { formatUnits, parseUnits } from "../../kernel/units.ts";
import { chainOfId, findNamedChain, unknownChain, type NamedChain } from "../chainName.ts";
import { UsageRefused } from "../command.ts";
import { findKnownChain } from "../config/knownChains.ts";
import type { Ready, ReadyChain } from "../dev/ready.ts";
import type { Reading } from "../reading.ts";

// What is paid where, by what was typed and, where nothing was, by the intent.

type Intent = Reading["intent"];
type Token = ReadyChain["tokens"][number];
type Typed = Readonly<Record<string, string>>;

export type Transfer = { chain: NamedChain; rpcUrl: string; token: Token; amountUnits: bigint; shown: string };

export function chooseTransfer(text: Typed, ready: Ready | undefined, intent: Intent): Transfer {
  const { rpcUrl, tokens, ...chain } = chooseChain(text, ready, intent);
  const token = chooseToken(text["token"], { chain, tokens }, intent);
  const amountUnits = chooseAmount(text["amount"], token, intent);
  return { chain, rpcUrl, token, amountUnits, shown: `${formatUnits(amountUnits, token.decimals)} ${token.symbol}` };
}

function chooseChain(text: Typed, ready: Ready | undefined, intent: Intent): ReadyChain {
  const typed = text["chain"] ?? payoutCaip2(intent);
  const rpcUrl = text["rpc-url"];
  const told = ready === undefined ? undefined : findNamedChain(ready.chains, typed);
  if (told !== undefined) return { ...told, rpcUrl: rpcUrl ?? told.rpcUrl };
  if (ready !== undefined && rpcUrl === undefined) throw new UsageRefused(unknownChain(ready.chains, typed));
  const chain = findNamedChain([payoutChain(intent)], typed) ?? chainOfId(typed);
  if (chain === undefined)
    throw new UsageRefused(`The chain ${typed} is not known here: give its chain id or CAIP-2 name.`);
  if (rpcUrl === undefined) throw new UsageRefused(`No node of ${chain.name} is known here: give one with --rpc-url.`);
  return { ...chain, rpcUrl, tokens: [] };
}

function payoutCaip2({ payout }: Intent): string {
  return `${payout.namespace}:${payout.chainReference}`;
}

function payoutChain(intent: Intent): NamedChain {
  const [slug = ""] = intent.payout.railId.split(":");
  const chainId = Number(intent.payout.chainReference);
  return { caip2: payoutCaip2(intent), chainId, slug, name: findKnownChain(chainId)?.name ?? slug };
}

function chooseToken(
  typed: string | undefined,
  { chain, tokens }: { chain: NamedChain; tokens: readonly Token[] },
  intent: Intent,
): Token {
  const { tokenAddress, decimals, railId } = intent.payout;
  const pinned = { symbol: railId.split(":")[1]?.toUpperCase() ?? "", address: tokenAddress, decimals };
  const isPinnedChain = chain.caip2 === payoutCaip2(intent);
  if (typed === undefined && isPinnedChain) return pinned;
  const name = typed ?? pinned.symbol;
  const known = isPinnedChain && tokens.length === 0 ? [pinned] : tokens;
  const token = known.find(({ symbol, address }) =>
    [symbol.toLowerCase(), address.toLowerCase()].includes(name.toLowerCase()),
  );
  if (token !== undefined) return token;
  const remedy =
    known.length === 0 ? "no token there is." : `give one of ${known.map(({ symbol }) => symbol).join(", ")}.`;
  throw new UsageRefused(`The token ${name} on ${chain.name} is not known here; ${remedy}`);
}

function chooseAmount(typed: string | undefined, token: Token, intent: Intent): bigint {
  if (typed !== undefined) {
    const amountUnits = parseUnits(typed, token.decimals);
    if (amountUnits !== undefined && amountUnits > 0n) return amountUnits;
    throw new UsageRefused(
      `--amount ${typed} is no amount of ${token.symbol}: give a decimal with at most ${token.decimals} digits behind the point.`,
    );
  }
  const missing = BigInt(intent.amounts.shortfallUnits);
  if (missing === 0n)
    throw new UsageRefused("Nothing is missing to the price of this intent, so say how much with --amount.");
  const shift = token.decimals - intent.payout.decimals;
  return shift >= 0 ? missing * 10n ** BigInt(shift) : divideUp(missing, 10n ** BigInt(-shift));
}

/** A payer rounds up: a unit less would not reach the price. */
function divideUp(amountUnits: bigint, by: bigint): bigint {
  return (amountUnits + by - 1n) / by;
}
