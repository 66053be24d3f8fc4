import type { AgreementPolicy, FinalityTier } from "../../src/config/config.ts";
import type { TokenKind } from "./chain/token.ts";
import type { SeededRandom } from "./seededRandom.ts";

// The seed's decisions before the run: chains, processes, creates and payments. Every element has a name, so that a run
// can be repeated without it.

export type TokenPlan = {
  symbol: string;
  decimals: number;
  kind: TokenKind;
  minimumUnits: bigint;
  isRail: boolean;
  /** A copy of another token that is not configured. */
  isUnconfigured: boolean;
};

export type ChainPlan = {
  name: string;
  /** `oneShot` has no nonces and no logs, so it breaks any EVM assumption above the chain's kind. */
  kind: "evm" | "oneShot";
  /** Whether its providers list only settlements, so that balances show the deposits. Only with `oneShot`. */
  isReadByAccounts: boolean;
  chainId: number;
  blockMs: number;
  pollMs: number;
  providers: number;
  /** Whether its nodes push heads. */
  pushesHeads: boolean;
  /** Whether its headers name the tokens of their transfers. */
  hasDigests: boolean;
  /** Whether they name those of an ancestor, as the configuration says. */
  hasForeignDigests: boolean;
  /** Whether several blocks share one time. */
  repeatsTimes: boolean;
  /** Whether its nodes have pruned their first block and old balances. */
  isPruned: boolean;
  /** Whether its nodes answer new blocks and their transfers together. */
  answersTogether: boolean;
  /** How many providers must agree. With agreement, one of three may lie. */
  agreement: AgreementPolicy | undefined;
  finalityLag: { safe: number; finalized: number } | null;
  finality: FinalityTier[];
  /** The deepest reorg after which every counted deposit must remain. */
  toleratedReorgDepth: number;
  settleAfterMs: number;
  settleBatchMax: number;
  tokens: TokenPlan[];
};

export type CreatePlan = {
  name: string;
  atMs: number;
  merchant: number;
  chain: number;
  rail: number;
  /** The index of the merchant's wallet; undefined for a create without a destination. */
  wallet: number | undefined;
  priceUnits: number | null;
  oneTime: boolean;
  /** The number of simultaneous copies. */
  copies: number;
  /** The time from creation to archival. */
  archiveAfterMs: number | undefined;
  isViewed: boolean;
  payments: PaymentPlan[];
};

export type PaymentPlan = {
  name: string;
  afterMs: number;
  kind: PaymentKind;
};

export type SimPlan = {
  seed: number;
  chaosMs: number;
  processes: number;
  /** The factor by which loops sleep longer. */
  slowdown: number;
  /** The delay of a signal. */
  wakeDelayMs: number;
  merchants: { feeBps: number; underpayToleranceBps: number }[];
  chains: ChainPlan[];
  creates: CreatePlan[];
  strangers: number;
  /** Joins both chains; undefined without a bridge. */
  bridge: BridgePlan | undefined;
  /** The situation that is set up; undefined without one. */
  scene: string | undefined;
};

export type BridgePlan = {
  /** What the service asks for a fast crossing, in basis points. */
  fastFeeBps: number;
  /** How long each chain is said to take to be final: a slow one is left by a fast crossing. */
  finalizedMs: number;
  /** From a burn's block until the service has seen it. */
  seenAfterMs: number;
  /** How many blocks of the settle chain take a fast message. */
  expiresAfterBlocks: number;
  /** From the request to sign a message anew until it is. */
  renewAfterMs: number;
  /** The share of fast burns whose first proof has expired when it is signed: they land only with a second one. */
  expiredShare: number;
  /** How many strangers use the bridge. */
  strangers: number;
};

const directPaymentKinds = [
  "right",
  "under",
  "over",
  "split",
  "many",
  "dust",
  "together",
  "wrongToken",
  "fakeToken",
  "wrongChain",
  "late",
  "reverted",
  "refused",
  "fickle",
] as const;

/**
 * What the page asks for, once the faults are over, after dust or not; and a stranger who settles in the middle of a
 * payment.
 */
const watchfulPaymentKinds = ["asked", "dustThenAsked", "settledBetween"] as const;

/**
 * `across`: in the token of another chain that a bridge carries. `ownBridge`: the payer uses the bridge himself.
 * `instalments`: each within a limit of finality, on both chains.
 */
export type PaymentKind =
  | (typeof directPaymentKinds)[number]
  | (typeof watchfulPaymentKinds)[number]
  | "across"
  | "acrossTwice"
  | "ownBridge"
  | "instalments";

/** Most payments are of these kinds. The other kinds share the rest. */
const COMMON_PAYMENT_KINDS = ["right", "right", "right", "split", "under", "over"] as const;

/** The fee ceiling of every chain, in wei per gas. */
export const MAX_FEE_PER_GAS = 200n * 10n ** 9n;

const CHAOS_MS_MIN = 40_000;
const CHAOS_MS_MAX = 120_000;

export function drawPlan(seed: number, random: SeededRandom, without: ReadonlySet<string>): SimPlan {
  const shape = random.derive("shape");
  const chaosMs = shape.between(CHAOS_MS_MIN, CHAOS_MS_MAX);
  const merchants = Array.from({ length: shape.between(1, 2) }, () => ({
    feeBps: shape.pick([0, 50, 137, 1_000] as const),
    underpayToleranceBps: shape.pick([0, 0, 100] as const),
  }));
  const bridge = drawBridge(random.derive("bridge"), without);
  const hasTwoChains = shape.chance(0.3) || bridge !== undefined;
  const chains = Array.from({ length: hasTwoChains ? 2 : 1 }, (_, index) =>
    drawChain(index, random.derive(`chain ${index}`)),
  ).map((chain): ChainPlan => ({
    ...chain,
    pushesHeads: chain.pushesHeads && !without.has("feeds"),
    kind: without.has("oneShot") || bridge !== undefined ? "evm" : chain.kind,
    isReadByAccounts: chain.isReadByAccounts && !without.has("accounts"),
  }));
  const creates = Array.from({ length: shape.between(1, 6) }, (_, index) =>
    drawCreate(random.derive(`create ${index}`), {
      name: `create-${index}`,
      chaosMs,
      merchants: merchants.length,
      chains,
    }),
  )
    .map((create) => (bridge === undefined ? create : payAcross(create, random.derive(`across ${create.name}`))))
    .map((create) => payWatchfully(create, random.derive(`watchful ${create.name}`), bridge !== undefined));
  const processes = shape.pick([1, 1, 2, 2, 3] as const);
  return {
    seed,
    chaosMs,
    processes: without.has("processes") ? 1 : processes,
    slowdown: shape.pick([6, 12, 24] as const),
    wakeDelayMs: shape.pick([100, 1_000, 3_000, 6_000] as const),
    merchants,
    chains: without.has("chain-1") ? chains.slice(0, 1) : chains,
    creates: creates.filter(({ name }) => !without.has(name)).map((create) => removeElements(create, without)),
    strangers: without.has("strangers") ? 0 : shape.pick([0, 0, 2, 6] as const),
    bridge,
    scene: undefined,
  };
}

/** The chance that a bridge joins two chains. */
const BRIDGED_CHANCE = 0.25;

function drawBridge(random: SeededRandom, without: ReadonlySet<string>): BridgePlan | undefined {
  const isBridged = random.chance(BRIDGED_CHANCE) && !without.has("bridge") && !without.has("chain-1");
  if (!isBridged) return undefined;
  return {
    fastFeeBps: random.pick([0, 1.3, 1.3, 1.3, 14, 40] as const),
    finalizedMs: random.pick([10_000, 900_000, 900_000] as const),
    seenAfterMs: random.pick([0, 5_000, 30_000] as const),
    expiresAfterBlocks: random.pick([2, 6, 20, 86_400] as const),
    renewAfterMs: random.pick([0, 5_000, 60_000] as const),
    strangers: without.has("bridgeStrangers") ? 0 : random.pick([0, 2, 5, 10] as const),
    expiredShare: without.has("expiredProofs") ? 0 : random.pick([0, 0.5, 1] as const),
  };
}

/** Most payments of a bridged world cross. */
function payAcross(create: CreatePlan, random: SeededRandom): CreatePlan {
  return {
    ...create,
    rail: random.chance(0.8) ? 0 : create.rail,
    payments: create.payments.map((payment) => {
      const own = random.derive(payment.name);
      if (!own.chance(0.75)) return payment;
      return { ...payment, kind: own.pick(["across", "across", "across", "acrossTwice", "ownBridge"] as const) };
    }),
  };
}

/** Some intents get a further payment, by a payer who looks at the page, or by one who tries to be counted early. */
function payWatchfully(create: CreatePlan, random: SeededRandom, isBridged: boolean): CreatePlan {
  const added = (kind: PaymentKind): PaymentPlan => ({ name: `${create.name}.${kind}`, afterMs: 0, kind });
  const watchful = random.chance(0.35) ? [added(random.pick(watchfulPaymentKinds))] : [];
  const instalments = isBridged && random.chance(0.4) ? [added("instalments")] : [];
  return { ...create, payments: [...create.payments, ...watchful, ...instalments] };
}

function removeElements(create: CreatePlan, without: ReadonlySet<string>): CreatePlan {
  return {
    ...create,
    chain: without.has("chain-1") ? 0 : create.chain,
    copies: without.has("copies") ? 1 : create.copies,
    archiveAfterMs: without.has("archives") ? undefined : create.archiveAfterMs,
    isViewed: create.isViewed && !without.has("views"),
    payments: create.payments.filter(({ name }) => !without.has(name)),
  };
}

/** The chance of a chain with five blocks a second. */
const FAST_CHANCE = 0.2;
const FAST_BLOCK_MS = 200;

function drawChain(index: number, random: SeededRandom): ChainPlan {
  const slowMs = random.pick([2_000, 4_000, 8_000] as const);
  const isFast = random.derive("fast").chance(FAST_CHANCE);
  const blockMs = isFast ? FAST_BLOCK_MS : slowMs;
  const safe = random.between(1, 3);
  const tags = { safe, finalized: safe + random.between(1, 4) };
  const finalityLag = random.chance(0.12) ? null : tags;
  const drawn = drawFinality(random, finalityLag !== null);
  const inSeconds = random.derive("seconds");
  const finality = isFast || inSeconds.chance(0.3) ? toSeconds(drawn, inSeconds) : drawn;
  const providers = random.between(1, 3);
  const agreement = providers > 1 && random.chance(0.5) ? { providers: 2, abovePriceUnits: 0n } : undefined;
  return {
    name: ["Alpha", "Beta"][index] ?? "Gamma",
    kind: random.derive("kind").chance(0.3) ? "oneShot" : "evm",
    isReadByAccounts: random.derive("accounts").chance(0.5),
    chainId: 31_337 + index,
    blockMs,
    pollMs: random.pick([400, 800] as const),
    providers,
    pushesHeads: random.derive("push").chance(0.6),
    hasDigests: random.derive("digests").chance(0.5),
    hasForeignDigests: random.derive("foreign digests").chance(0.2),
    repeatsTimes: isFast,
    isPruned: random.derive("pruned").chance(0.2),
    answersTogether: random.derive("together").chance(0.7),
    agreement,
    finalityLag,
    finality,
    toleratedReorgDepth: toleratedReorgDepth(finality, tags),
    settleAfterMs: random.pick([0, 0, 20_000] as const),
    settleBatchMax: random.pick([1, 2, 100] as const),
    tokens: drawTokens(random),
  };
}

function drawFinality(random: SeededRandom, hasTags: boolean): FinalityTier[] {
  const confirmations = random.between(1, 5);
  const byDepth = { upToPriceUnits: undefined, finality: { confirmations } };
  if (!hasTags) return [byDepth];
  const tag = random.pick(["safe", "finalized"] as const);
  const byTag = { upToPriceUnits: undefined, finality: { tag } } as const;
  const tiers = [{ upToPriceUnits: 10_000_000n, finality: { confirmations } }, byTag];
  return random.pick<FinalityTier[]>([[byDepth], [byTag], tiers]);
}

/** The same tiers, with seconds instead of confirmations. */
function toSeconds(tiers: readonly FinalityTier[], random: SeededRandom): FinalityTier[] {
  const seconds = random.between(2, 40);
  return tiers.map((tier) => ("confirmations" in tier.finality ? { ...tier, finality: { seconds } } : tier));
}

function toleratedReorgDepth(finality: readonly FinalityTier[], lag: { safe: number; finalized: number }): number {
  const depths = finality.map(({ finality: of }) =>
    "confirmations" in of
      ? of.confirmations - 1
      : // After a halt of the chain, one block makes all blocks below it old.
        "seconds" in of
        ? 1
        : of.tag === "safe"
          ? lag.safe
          : lag.finalized,
  );
  return Math.min(lag.finalized, ...depths);
}

function drawTokens(random: SeededRandom): TokenPlan[] {
  const usualUnits = random.pick([0n, 0n, 50_000n] as const);
  // Above most prices.
  const minimumUnits = random.derive("minimum").chance(0.15) ? 30_000_000n : usualUnits;
  const rail = { decimals: 6, minimumUnits, isRail: true, isUnconfigured: false };
  return [
    { ...rail, symbol: "USDC", kind: "plain" },
    { ...rail, symbol: "USDT", kind: random.pick(["silent", "false"] as const) },
    { ...rail, symbol: "DUSD", kind: "plain", decimals: 18, minimumUnits: minimumUnits * 10n ** 12n },
    { ...rail, symbol: "TAXD", kind: "taxed", isRail: false },
    { ...rail, symbol: "FAKE", kind: "plain", isRail: false, isUnconfigured: true },
  ];
}

function drawCreate(
  random: SeededRandom,
  context: { name: string; chaosMs: number; merchants: number; chains: readonly ChainPlan[] },
): CreatePlan {
  const { name, chaosMs } = context;
  const hasPrice = random.chance(0.7);
  return {
    name,
    atMs: random.between(0, Math.floor(chaosMs * 0.6)),
    merchant: random.between(0, context.merchants - 1),
    chain: random.between(0, context.chains.length - 1),
    rail: random.pick([0, 0, 0, 1, 2] as const),
    wallet: random.chance(0.75) ? random.between(0, 1) : undefined,
    priceUnits: hasPrice ? random.between(1, 40) * 1_000_003 : null,
    oneTime: hasPrice && random.chance(0.6),
    copies: random.chance(0.35) ? random.between(2, 4) : 1,
    archiveAfterMs: random.chance(0.2) ? random.between(1_000, chaosMs) : undefined,
    isViewed: random.chance(0.4),
    payments: Array.from({ length: random.between(0, 3) }, (_, index) => ({
      name: `${name}.payment-${index}`,
      afterMs: random.between(0, Math.floor(chaosMs * 0.5)),
      kind: random.chance(0.6) ? random.pick(COMMON_PAYMENT_KINDS) : random.pick(directPaymentKinds),
    })),
  };
}
