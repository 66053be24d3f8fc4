import type { Asset } from "../catalog/catalog.ts";
import { loadIssuingPredicate, setOriginEnabled } from "../inbox/originSwitch.ts";
import { readProviderHints } from "../health/providerHints.ts";
import { caip19 } from "../kernel/caip.ts";
import { closestMatch } from "../kernel/text/closestMatch.ts";
import type { World } from "../world.ts";
import { CommandError } from "./errors.ts";
import { hintsOf, type HintOutput } from "./status/hints.ts";
import { requiredText } from "./operation/inputFields.ts";
import { defineOperatorOperation } from "./operation/operatorOperation.ts";

export type OriginOutput = {
  /** Chain and token, such as `base:usdc`. */
  origin: string;
  caip19: string;
  /** Whether the origin gets new source inboxes. */
  isIssuing: boolean;
  /** The reason why it gets none; null when `isIssuing`. */
  offBy: "switch" | "configuration" | "no gate" | null;
  gate: "local" | "remote";
  /** Providers whose webhooks say where to look on its chain. */
  hints: HintOutput[];
};

export const listOrigins = defineOperatorOperation({
  effect: "read",
  input: {},
  async run(world) {
    const [isIssuing, hints] = await Promise.all([loadIssuingPredicate(world), readProviderHints(world)]);
    return listOriginAssets(world).map((origin) => ({
      ...toOriginOutput(world, origin, isIssuing(origin)),
      hints: hintsOf(hints, origin.chain),
    }));
  },
});

export const enableOrigin = defineSwitch(true);
export const disableOrigin = defineSwitch(false);

function defineSwitch(isEnabled: boolean) {
  return defineOperatorOperation({
    effect: "write",
    input: { origin: requiredText },
    async run(world, { origin: name }) {
      const origin = findOriginByName(world, name);
      await setOriginEnabled(world, { origin, isEnabled });
      world.log.info({ origin: origin.railId, isEnabled }, "origin switched");
      const isIssuing = await loadIssuingPredicate(world);
      return toOriginOutput(world, origin, isIssuing(origin));
    },
  });
}

function toOriginOutput(world: World, origin: Asset, isIssuing: boolean): Omit<OriginOutput, "hints"> {
  return {
    origin: origin.railId,
    caip19: caip19(origin.chain, origin.token),
    isIssuing,
    offBy: isIssuing ? null : findOffReason(world, origin),
    gate: origin.gate,
  };
}

function findOffReason(world: World, origin: Asset): OriginOutput["offBy"] {
  if (!origin.isIssuing) return "configuration";
  return origin.gate === "remote" && world.gate === undefined ? "no gate" : "switch";
}

function findOriginByName(world: World, name: string): Asset {
  const origins = listOriginAssets(world);
  const lowerName = name.toLowerCase();
  const found = origins.find(
    ({ railId, chain, token }) => railId === lowerName || caip19(chain, token).toLowerCase() === lowerName,
  );
  if (found !== undefined) return found;
  const names = origins.map(({ railId }) => railId);
  const closest = closestMatch(lowerName, names);
  throw new CommandError(
    `${name} is not an origin; ${closest === undefined ? `give one of ${names.join(", ")}.` : `did you mean ${closest}?`}`,
  );
}

function listOriginAssets(world: World): Asset[] {
  return world.catalog.assets.filter(({ isOrigin }) => isOrigin);
}
