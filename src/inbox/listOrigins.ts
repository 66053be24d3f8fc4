import { payoutChain } from "../intent/payoutAsset.ts";
import { findChainDescription, type Asset, type Catalog } from "../catalog/catalog.ts";
import type { ChainDescription } from "../config/config.ts";
import type { IntentRow } from "../intent/store.ts";
import { assert } from "../kernel/assert.ts";
import { caip19, caip2, displayAddress } from "../kernel/caip.ts";
import { formatUnits } from "../kernel/units.ts";
import { isAccountOrigin } from "../merchant/accountOrigins.ts";
import type { AccountRow } from "../merchant/store.ts";
import {
  isDepositIssuable,
  isIntentDepositIssuable,
  originMinimum,
  type IssuingConditions,
} from "./depositIssuable.ts";

type TokenRecord = { symbol: string; address: string; decimals: number };

/** A chain and token from which a payer may deposit, as the API shows it. */
export type OriginRecord = {
  namespace: string;
  reference: string;
  chainId: number;
  name: string;
  shortName: string;
  publicRpcUrl: string;
  explorerUrl: string;
  nativeName: string;
  nativeSymbol: string;
  nativeDecimals: number;
  token: TokenRecord;
  caip19: string;
  minimumUnits: string;
  minimumDisplay: string;
  depositIssuable: boolean;
};

/** A chain and token in which merchants are paid, as the API shows it. */
export type RailRecord = {
  id: string;
  namespace: string;
  reference: string;
  chainId: number;
  chainName: string;
  token: TokenRecord;
  explorerUrl: string;
  status: "live";
  default: boolean;
};

export type OriginListing = { origins: OriginRecord[]; settleRails: RailRecord[]; sourceDepositIssuable: boolean };

/**
 * Lists every rail and every live origin: issuable origins first, and within each group those on the payout chain
 * first.
 */
export function listOrigins(
  world: { catalog: Catalog },
  subject: { intent: IntentRow; account: AccountRow },
  conditions: IssuingConditions,
): OriginListing {
  const { catalog } = world;
  const { intent, account } = subject;
  const settleChain = payoutChain(intent);
  const origins = catalog.assets.filter((asset) => asset.isOrigin && isAccountOrigin(account, asset));
  const rank = (origin: Asset) =>
    (isDepositIssuable(intent, origin, conditions) ? 0 : 2) + (origin.chain === settleChain ? 0 : 1);
  const defaultRailId = findDefaultRail(catalog, account)?.railId ?? catalog.defaultRailId;
  return {
    origins: origins
      .toSorted((one, other) => rank(one) - rank(other))
      .map((origin) =>
        originRecord(catalog, origin, {
          minimumUnits: originMinimum(intent, origin, conditions.routes),
          depositIssuable: isDepositIssuable(intent, origin, conditions),
        }),
      ),
    settleRails: catalog.assets
      .filter((asset) => asset.isRail)
      .map((rail) => railRecord(catalog, rail, rail.railId === defaultRailId)),
    sourceDepositIssuable: isIntentDepositIssuable(intent, origins, conditions),
  };
}

/** The rail of an account's defaults; undefined when they are incomplete or the rail is no longer live. */
function findDefaultRail(catalog: Catalog, account: AccountRow): Asset | undefined {
  const { payout_namespace: namespace, payout_chain_reference: reference, currency } = account;
  if (namespace === null || reference === null) return undefined;
  const chain = caip2(namespace, reference);
  const symbol = currency ?? findChainDescription(catalog, chain)?.defaultToken;
  return catalog.assets.find((asset) => asset.isRail && asset.chain === chain && asset.symbol === symbol);
}

function originRecord(
  catalog: Catalog,
  origin: Asset,
  { minimumUnits, depositIssuable }: { minimumUnits: bigint; depositIssuable: boolean },
): OriginRecord {
  const chain = requireChain(catalog, origin);
  return {
    namespace: origin.namespace,
    reference: origin.reference,
    chainId: origin.chainId,
    name: chain.name,
    shortName: chain.slug,
    publicRpcUrl: chain.publicRpcUrl,
    explorerUrl: chain.explorerUrl,
    nativeName: chain.native.name,
    nativeSymbol: chain.native.symbol,
    nativeDecimals: chain.native.decimals,
    token: tokenRecord(origin),
    caip19: caip19(origin.chain, origin.token),
    minimumUnits: minimumUnits.toString(),
    minimumDisplay: formatUnits(minimumUnits, origin.decimals),
    depositIssuable,
  };
}

function railRecord(catalog: Catalog, rail: Asset, isDefault: boolean): RailRecord {
  return {
    id: rail.railId,
    namespace: rail.namespace,
    reference: rail.reference,
    chainId: rail.chainId,
    chainName: rail.chainName,
    token: tokenRecord(rail),
    explorerUrl: requireChain(catalog, rail).explorerUrl,
    status: "live",
    default: isDefault,
  };
}

function tokenRecord(asset: Asset): TokenRecord {
  return { symbol: asset.symbol, address: displayAddress(asset.chain, asset.token), decimals: asset.decimals };
}

function requireChain(catalog: Catalog, asset: Asset): ChainDescription {
  const chain = findChainDescription(catalog, asset.chain);
  assert(chain, `the catalogue lists the asset ${asset.railId} without its chain`);
  return chain;
}
