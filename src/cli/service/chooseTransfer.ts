import { caip2, namespaceOf, type Caip2 } from "../../kernel/caip.ts";
import { formatUnits, parseUnits } from "../../kernel/units.ts";
import { resolveChainId, findChainByName, unknownChainMessage, type NamedChain } from "../../config/chainName.ts";
import { UsageError } from "../../operator/errors.ts";
import { findKnownChain } from "../../config/knownChains.ts";
import type { DevManifest } from "../../dev/manifest.ts";
import type { ManifestChain } from "../../dev/manifest.ts";
import type { IntentSnapshot } from "../../operator/intentOperations.ts";

// Chooses chain, token and amount of a payment from the options. The intent gives the defaults.

type Intent = IntentSnapshot["intent"];
type Token = ManifestChain["tokens"][number];
type OptionValues = Readonly<Record<string, string>>;

export type Transfer = { chain: NamedChain; rpcUrl: string; token: Token; amountUnits: bigint; amountText: string };

/** `manifest` describes the running dev world, if any. Throws UsageError for an option that does not fit. */
export function chooseTransfer(values: OptionValues, manifest: DevManifest | undefined, intent: Intent): Transfer {
  const { rpcUrl, tokens, ...chain } = chooseChain(values, manifest, intent);
  const token = chooseToken(values["token"], { chain, tokens }, intent);
  if (intent.payout.namespace === "solana" && token.address !== intent.payout.tokenAddress)
    throw new UsageError(
      `An inbox on Solana takes one token: give ${payoutToken(intent).symbol} (${intent.payout.tokenAddress}), because a deposit of ${token.symbol} would be held.`,
    );
  const amountUnits = chooseAmount(values["amount"], token, intent);
  return {
    chain,
    rpcUrl,
    token,
    amountUnits,
    amountText: `${formatUnits(amountUnits, token.decimals)} ${token.symbol}`,
  };
}

function chooseChain(values: OptionValues, manifest: DevManifest | undefined, intent: Intent): ManifestChain {
  const found = findChain(values, manifest, intent);
  // An intent has one inbox on all EVM chains, or one on Solana.
  if (namespaceOf(found.caip2) !== intent.payout.namespace)
    throw new UsageError(
      `This intent is paid out on ${payoutChain(intent).name}, and its inbox ${intent.inboxAddress} takes no deposits on ${found.name}.`,
    );
  return found;
}

function findChain(values: OptionValues, manifest: DevManifest | undefined, intent: Intent): ManifestChain {
  const typed = values["chain"] ?? payoutCaip2(intent);
  const rpcUrl = values["rpc-url"];
  const devChain = manifest === undefined ? undefined : findChainByName(manifest.chains, typed);
  if (devChain !== undefined) return { ...devChain, rpcUrl: rpcUrl ?? devChain.rpcUrl };
  if (manifest !== undefined && rpcUrl === undefined) throw new UsageError(unknownChainMessage(manifest.chains, typed));
  const chain = findChainByName([payoutChain(intent)], typed) ?? resolveChainId(typed);
  if (chain === undefined) throw new UsageError(`--chain ${typed} is unknown: give its chain id or CAIP-2 id.`);
  if (rpcUrl === undefined) throw new UsageError(`No node of ${chain.name} is known: give its URL in --rpc-url.`);
  return { ...chain, rpcUrl, tokens: [] };
}

function payoutCaip2({ payout }: Intent): Caip2 {
  return caip2(payout.namespace, payout.chainReference);
}

function payoutChain(intent: Intent): NamedChain {
  const [slug = ""] = intent.payout.railId.split(":");
  const { namespace, chainReference } = intent.payout;
  if (namespace === "solana") return { caip2: payoutCaip2(intent), chainId: 0, slug, name: slug };
  const chainId = Number(chainReference);
  return { caip2: payoutCaip2(intent), chainId, slug, name: findKnownChain(chainId)?.name ?? slug };
}

function payoutToken({ payout: { tokenAddress, decimals, railId } }: Intent): Token {
  return { symbol: railId.split(":")[1]?.toUpperCase() ?? "", address: tokenAddress, decimals };
}

function chooseToken(
  typed: string | undefined,
  { chain, tokens }: { chain: NamedChain; tokens: readonly Token[] },
  intent: Intent,
): Token {
  const own = payoutToken(intent);
  const isPayoutChain = chain.caip2 === payoutCaip2(intent);
  if (typed === undefined && isPayoutChain) return own;
  const name = typed ?? own.symbol;
  const known = isPayoutChain && tokens.length === 0 ? [own] : tokens;
  // The case of an address on Solana is part of it.
  const isNamed = (address: string) =>
    namespaceOf(chain.caip2) === "solana" ? address === name : address.toLowerCase() === name.toLowerCase();
  const token = known.find(({ symbol, address }) => symbol.toLowerCase() === name.toLowerCase() || isNamed(address));
  if (token !== undefined) return token;
  const remedy =
    known.length === 0
      ? `no token of ${chain.name} is known.`
      : `give one of ${known.map(({ symbol }) => symbol).join(", ")}.`;
  throw new UsageError(`The token ${name} is unknown on ${chain.name}; ${remedy}`);
}

function chooseAmount(typed: string | undefined, token: Token, intent: Intent): bigint {
  if (typed !== undefined) {
    const amountUnits = parseUnits(typed, token.decimals);
    if (amountUnits !== undefined && amountUnits > 0n) return amountUnits;
    throw new UsageError(
      `--amount ${typed} is not an amount of ${token.symbol}: give a decimal above 0 with at most ${token.decimals} digits after the point.`,
    );
  }
  const { remainingUnits } = intent.amounts;
  if (remainingUnits === null) throw new UsageError("This intent has no price: give the amount in --amount.");
  const remaining = BigInt(remainingUnits);
  if (remaining === 0n) throw new UsageError("Nothing is left to pay: give the amount in --amount.");
  const shift = token.decimals - intent.payout.decimals;
  return shift >= 0 ? remaining * 10n ** BigInt(shift) : divideRoundingUp(remaining, 10n ** BigInt(-shift));
}

/** Rounds up, because one unit less does not reach the price. */
function divideRoundingUp(amountUnits: bigint, by: bigint): bigint {
  return (amountUnits + by - 1n) / by;
}
