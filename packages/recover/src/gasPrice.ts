import { parseQuantity } from "./abi.ts";
import { formatUnits } from "./format.ts";
import type { RpcRequester } from "./rpc/rpcRequester.ts";

// The fees of a transaction. A chain's ceiling bounds them, because a provider that states a wrong price could cost any
// amount of gas money.

export type Fees =
  | { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
  /** On a chain whose blocks have no base fee. */
  | { readonly gasPrice: bigint };

const GWEI_DECIMALS = 9;
const WEI_PER_GWEI = 1_000_000_000n;

/** Rollups that are paid in ether, and their test networks. */
const ROLLUPS = [10n, 130n, 480n, 2_818n, 3_343n, 8_453n, 42_161n, 57_073n, 59_144n, 81_224n];
const TEST_ROLLUPS = [1_301n, 2_910n, 4_801n, 33_431n, 59_141n, 84_532n, 421_614n, 763_373n, 812_242n, 11_155_420n];

/** In gwei, by chain id: the same as those of the service. */
const CEILINGS_GWEI: ReadonlyMap<bigint, bigint> = new Map([
  [1n, 200n],
  [56n, 20n],
  [137n, 5_000n],
  [11_155_111n, 1_000n],
  ...ROLLUPS.map((chainId) => [chainId, 10n] as const),
  ...TEST_ROLLUPS.map((chainId) => [chainId, 100n] as const),
]);
const CEILING_GWEI_DEFAULT = 500n;

/** The highest price of a chain's gas unless the sender names another, in wei. */
export function defaultFeeCeiling(chainId: bigint): bigint {
  return (CEILINGS_GWEI.get(chainId) ?? CEILING_GWEI_DEFAULT) * WEI_PER_GWEI;
}

/** Parses a price such as "0.5" and returns wei; undefined unless it is above 0. */
export function parseGwei(text: string): bigint | undefined {
  const [, whole, fraction = ""] = /^(\d{1,12})(?:\.(\d{1,9}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined) return undefined;
  const wei = BigInt(whole + fraction.padEnd(GWEI_DECIMALS, "0"));
  return wei > 0n ? wei : undefined;
}

export function formatGwei(wei: bigint): string {
  return formatUnits(wei, GWEI_DECIMALS);
}

/** Nothing may be sent at the present price. */
export class GasPriceTooHigh extends Error {
  override readonly name = "GasPriceTooHigh";

  constructor(price: bigint, ceiling: bigint) {
    super(
      `The gas price is now ${formatGwei(price)} gwei, above the ceiling of ${formatGwei(ceiling)} gwei, so nothing was sent.`,
    );
  }
}

/**
 * The fees of a transaction in one of the next blocks; they cover a doubled base fee, but never exceed the ceiling.
 * Throws GasPriceTooHigh.
 */
export async function quoteFees(request: RpcRequester, ceiling: bigint): Promise<Fees> {
  const block = await request("eth_getBlockByNumber", ["latest", false]);
  const stated: unknown = Reflect.get(Object(block), "baseFeePerGas");
  if (stated === undefined || stated === null) {
    const gasPrice = parseQuantity(await request("eth_gasPrice", []), "its gas price");
    if (gasPrice > ceiling) throw new GasPriceTooHigh(gasPrice, ceiling);
    return { gasPrice };
  }
  const baseFee = parseQuantity(stated, "its base fee");
  const maxPriorityFeePerGas = await readTip(request, baseFee);
  const price = baseFee + maxPriorityFeePerGas;
  if (price > ceiling) throw new GasPriceTooHigh(price, ceiling);
  const doubled = price + baseFee;
  return { maxFeePerGas: doubled < ceiling ? doubled : ceiling, maxPriorityFeePerGas };
}

/** Some wallets answer only the older question, whose answer contains the base fee. */
async function readTip(request: RpcRequester, baseFee: bigint): Promise<bigint> {
  try {
    return parseQuantity(await request("eth_maxPriorityFeePerGas", []), "its priority fee");
  } catch {
    const gasPrice = parseQuantity(await request("eth_gasPrice", []), "its gas price");
    return gasPrice > baseFee ? gasPrice - baseFee : 0n;
  }
}
