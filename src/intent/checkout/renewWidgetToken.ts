import type { Tx } from "../../db/database.ts";
import type { World } from "../../world.ts";
import { replaceWidgetToken } from "../store.ts";
import { newWidgetToken } from "./widgetToken.ts";

/** Gives an intent another widget token; the earlier one stops authenticating with the commit. */
export async function renewWidgetToken(tx: Tx, world: Pick<World, "entropy">, intentId: string): Promise<string> {
  const { widgetToken, hash } = newWidgetToken(world.entropy);
  await replaceWidgetToken(tx, { id: intentId, hash });
  return widgetToken;
}
