import type { FaultKind } from "../faultSchedule.ts";
import type { SimPlan } from "../plan.ts";
import type { SeededRandom } from "../seededRandom.ts";
import { equalBurns } from "./equalBurns.ts";
import { instalments } from "./instalments.ts";
import { lateMoney, settledBetween } from "./payments.ts";
import { lyingSweeps } from "./lyingSweeps.ts";
import { refusedRow } from "./refusedRow.ts";
import { reorgElsewhere } from "./reorgElsewhere.ts";
import type { Scene } from "./scene.ts";
import { smallBurns } from "./smallBurns.ts";
import type { Stage } from "./stage.ts";
import { unknownBurn } from "./unknownBurn.ts";
import { unsearchableInboxes } from "./unsearchableInboxes.ts";

const SCENES: readonly Scene[] = [
  instalments,
  reorgElsewhere,
  lateMoney,
  settledBetween,
  refusedRow,
  unsearchableInboxes,
  lyingSweeps,
  smallBurns,
  equalBurns,
  unknownBurn,
];

/** The share of seeds with a scene. */
const SCENE_CHANCE = 0.35;

/** Gives some seeds a scene, and what it needs. */
export function shapeScene(plan: SimPlan, random: SeededRandom, without: ReadonlySet<string>): SimPlan {
  const isPresent = random.chance(SCENE_CHANCE) && !without.has("scene");
  const scene = random.pick(SCENES);
  const isPossible = scene?.isBridged !== true || !(without.has("bridge") || without.has("chain-1"));
  if (!isPresent || scene === undefined || !isPossible) return plan;
  const shaped = scene.shape(plan);
  return { ...shaped, creates: shaped.creates.filter(({ name }) => !without.has(name)), scene: scene.name };
}

/** The faults that the scene of a plan leaves out. */
export function calmFaults(plan: SimPlan): readonly FaultKind[] {
  return findScene(plan)?.calm ?? [];
}

export async function playScene(plan: SimPlan, stage: Stage): Promise<void> {
  await findScene(plan)?.play?.(stage);
}

function findScene(plan: SimPlan): Scene | undefined {
  return SCENES.find(({ name }) => name === plan.scene);
}
