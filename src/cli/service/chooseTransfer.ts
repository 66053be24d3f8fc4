import { formatUnits, parseUnits } from "../../kernel/units.ts";
import { resolveChainId, findChainByName, unknownChainMessage, type NamedChain } from "../../config/chainName.ts";
import { UsageError } from "../../operator/errors.ts";
import { findKnownChain } from "../../config/knownChains.ts";
import type { DevManifest, ManifestChain } from "../../dev/devManifest.ts";
import type { IntentSnapshot } from "../../operator/client/intentSnapshot.ts";

// What is paid where, by what was typed and, where nothing was, by the intent.

type Intent = IntentSnapshot["intent"];
type Token = ManifestChain["tokens"][number];
type OptionValues = Readonly<Record<string, string>>;

export type Transfer = { chain: NamedChain; rpcUrl: string; token: Token; amountUnits: bigint; amountText: string };

export function chooseTransfer(text: OptionValues, ready: DevManifest | undefined, intent: Intent): Transfer {
  const { rpcUrl, tokens, ...chain } = chooseChain(text, ready, intent);
  const token = chooseToken(text["token"], { chain, tokens }, intent);
  const amountUnits = chooseAmount(text["amount"], token, intent);
  return {
    chain,
    rpcUrl,
    token,
    amountUnits,
    amountText: `${formatUnits(amountUnits, token.decimals)} ${token.symbol}`,
  };
}

function chooseChain(text: OptionValues, ready: DevManifest | undefined, intent: Intent): ManifestChain {
  const typed = text["chain"] ?? payoutCaip2(intent);
  const rpcUrl = text["rpc-url"];
  const devChain = ready === undefined ? undefined : findChainByName(ready.chains, typed);
  if (devChain !== undefined) return { ...devChain, rpcUrl: rpcUrl ?? devChain.rpcUrl };
  if (ready !== undefined && rpcUrl === undefined) throw new UsageError(unknownChainMessage(ready.chains, typed));
  const chain = findChainByName([payoutChain(intent)], typed) ?? resolveChainId(typed);
  if (chain === undefined)
    throw new UsageError(`The chain ${typed} is not known here: give its chain id or CAIP-2 name.`);
  if (rpcUrl === undefined) throw new UsageError(`No node of ${chain.name} is known here: give one with --rpc-url.`);
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
  throw new UsageError(`The token ${name} on ${chain.name} is not known here; ${remedy}`);
}

function chooseAmount(typed: string | undefined, token: Token, intent: Intent): bigint {
  if (typed !== undefined) {
    const amountUnits = parseUnits(typed, token.decimals);
    if (amountUnits !== undefined && amountUnits > 0n) return amountUnits;
    throw new UsageError(
      `--amount ${typed} is no amount of ${token.symbol}: give a decimal with at most ${token.decimals} digits behind the point.`,
    );
  }
  const missing = BigInt(intent.amounts.shortfallUnits);
  if (missing === 0n)
    throw new UsageError("Nothing is missing to the price of this intent, so say how much with --amount.");
  const shift = token.decimals - intent.payout.decimals;
  return shift >= 0 ? missing * 10n ** BigInt(shift) : divideRoundingUp(missing, 10n ** BigInt(-shift));
}

/** A payer rounds up: a unit less would not reach the price. */
function divideRoundingUp(amountUnits: bigint, by: bigint): bigint {
  return (amountUnits + by - 1n) / by;
}
