import type { FaultKind } from "../faultSchedule.ts";
import type { BridgePlan, ChainPlan, CreatePlan, PaymentKind, SimPlan } from "../plan.ts";
import { sceneIntent, type Stage } from "./stage.ts";

/** A situation that random actors rarely meet: what the world must have for it, and who acts in it. */
export type Scene = {
  name: string;
  /** Whether it needs two chains with a bridge. */
  isBridged?: boolean;
  /** Faults that would keep the situation from happening. */
  calm: readonly FaultKind[];
  shape: (plan: SimPlan) => SimPlan;
  play?: (stage: Stage) => Promise<void>;
};

/** A bridge without surprises of its own. */
const CALM_BRIDGE: BridgePlan = {
  fastFeeBps: 1.3,
  finalizedMs: 10_000,
  seenAfterMs: 5_000,
  expiresAfterBlocks: 86_400,
  renewAfterMs: 5_000,
  strangers: 0,
  expiredShare: 0,
};

/** Faults of the bridge that would decide the order in which burns are proven. */
export const BRIDGE_FAULTS: readonly FaultKind[] = [
  "attestationDown",
  "attestationDelayed",
  "attestationLimited",
  "attestationLost",
  "attestationMalformed",
  "attestationMixed",
  "burnDenied",
  "burnLimited",
  "inboxBlocked",
  "bridgeFees",
];

/** Faults that take time or blocks from a chain. */
export const CHAIN_FAULTS: readonly FaultKind[] = ["deepReorg", "halt", "chainUnreachable", "tokenPaused"];

/** The intents of the seed beside those of the scene. */
const OTHER_CREATES_MAX = 2;

/** Replaces parts of the seed's chains. `count`: of chains; a missing second one is like the first. */
export function shapeChains(
  plan: SimPlan,
  count: 1 | 2,
  shapeOf: (chain: ChainPlan, index: number) => Partial<ChainPlan>,
): Pick<SimPlan, "chains" | "creates" | "bridge"> {
  const [first, second] = plan.chains;
  if (first === undefined) throw new Error("the seed has no chain");
  const twin = { ...first, name: "Beta", chainId: first.chainId + 1 };
  const chains = count === 1 ? [first] : [first, second ?? twin];
  return {
    chains: chains.map((chain, index) => ({ ...chain, ...shapeOf(chain, index) })),
    creates: plan.creates.filter(({ chain }) => chain < count).slice(0, OTHER_CREATES_MAX),
    bridge: count === 1 ? undefined : plan.bridge,
  };
}

/** The same for two chains that a bridge joins. */
export function shapeBridged(
  plan: SimPlan,
  shapeOf: (chain: ChainPlan, index: number) => Partial<ChainPlan>,
): Pick<SimPlan, "chains" | "creates" | "bridge"> {
  const shaped = shapeChains(plan, 2, (chain, index) => ({ kind: "evm", ...shapeOf(chain, index) }));
  return { ...shaped, bridge: CALM_BRIDGE };
}

/** Sets the minimum of all tokens, in millionths. */
export function withMinimum(chain: ChainPlan, minimumUnits: bigint): ChainPlan["tokens"] {
  return chain.tokens.map((token) => ({ ...token, minimumUnits: minimumUnits * 10n ** BigInt(token.decimals - 6) }));
}

type SceneCreate = Partial<Omit<CreatePlan, "name" | "payments">> & {
  pays?: readonly (readonly [number, PaymentKind])[];
};

/**
 * An intent of the scene on the first chain, in the token that a bridge carries. `pays`: after its creation, in
 * milliseconds.
 */
export function sceneCreate(index: number, { pays = [], ...create }: SceneCreate = {}): CreatePlan {
  const name = sceneIntent(index);
  return {
    name,
    atMs: 500 * index,
    merchant: 0,
    chain: 0,
    rail: 0,
    // No issuer blocks these wallets.
    wallet: 2 + index,
    priceUnits: null,
    oneTime: false,
    copies: 1,
    archiveAfterMs: undefined,
    isViewed: false,
    payments: pays.map(([afterMs, kind], number) => ({ name: `${name}.payment-${number}`, afterMs, kind })),
    ...create,
  };
}
