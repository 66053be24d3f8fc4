import type { Tx } from "../../db/database.ts";
import type { World } from "../../world.ts";
import { replaceWidgetToken } from "../store.ts";
import { newWidgetToken } from "./widgetToken.ts";

/** Replaces an intent's widget token and returns the new one. The earlier token stops authenticating at the commit. */
export async function renewWidgetToken(tx: Tx, world: Pick<World, "entropy">, intentId: string): Promise<string> {
  const { widgetToken, hash } = newWidgetToken(world.entropy);
  await replaceWidgetToken(tx, { id: intentId, hash });
  return widgetToken;
}
