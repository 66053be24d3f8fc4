import type { Asset } from "../../catalog/catalog.ts";
import { readIssuing, switchOrigin } from "../../inbox/originSwitch.ts";
import { caip19 } from "../../kernel/caip.ts";
import { nearest } from "../../kernel/nearest.ts";
import type { World } from "../../world.ts";
import { CommandFailed } from "../command.ts";
import { neededText } from "./input.ts";

export type ShownOrigin = {
  /** As it is named on the command line: chain and token. */
  origin: string;
  caip19: string;
  /** Whether new source inboxes are issued for it now. */
  isIssuing: boolean;
  /** What keeps it off; null when it is on. */
  offBy: "switch" | "configuration" | "no gate" | null;
  gate: "local" | "remote";
};

export async function listOrigins(world: World): Promise<ShownOrigin[]> {
  const isIssuing = await readIssuing(world);
  return originsOf(world).map((origin) => shownOrigin(world, origin, isIssuing(origin)));
}

export async function enableOrigin(world: World, input: unknown): Promise<ShownOrigin> {
  return turn(world, input, true);
}

export async function disableOrigin(world: World, input: unknown): Promise<ShownOrigin> {
  return turn(world, input, false);
}

async function turn(world: World, input: unknown, isEnabled: boolean): Promise<ShownOrigin> {
  const origin = getOrigin(world, neededText(input, "origin"));
  await switchOrigin(world, { origin, isEnabled });
  world.log.info({ origin: origin.railId, isEnabled }, "an origin was switched");
  const isIssuing = await readIssuing(world);
  return shownOrigin(world, origin, isIssuing(origin));
}

function shownOrigin(world: World, origin: Asset, isIssuing: boolean): ShownOrigin {
  return {
    origin: origin.railId,
    caip19: caip19(origin.chain, origin.token),
    isIssuing,
    offBy: isIssuing ? null : offBy(world, origin),
    gate: origin.gate,
  };
}

function offBy(world: World, origin: Asset): ShownOrigin["offBy"] {
  if (!origin.isIssuing) return "configuration";
  return origin.gate === "remote" && world.gate === undefined ? "no gate" : "switch";
}

function getOrigin(world: World, name: string): Asset {
  const origins = originsOf(world);
  const wanted = name.toLowerCase();
  const found = origins.find(
    ({ railId, chain, token }) => railId === wanted || caip19(chain, token).toLowerCase() === wanted,
  );
  if (found !== undefined) return found;
  const names = origins.map(({ railId }) => railId);
  const meant = nearest(wanted, names);
  throw new CommandFailed(
    `${name} is no origin; ${meant === undefined ? `there are ${names.join(", ")}.` : `did you mean ${meant}?`}`,
  );
}

function originsOf(world: World): Asset[] {
  return world.catalog.assets.filter(({ isOrigin }) => isOrigin);
}
