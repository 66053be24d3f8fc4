import { markRewind } from "../../event/epoch/watchEpoch.ts";
import { defineOperatorOperation } from "../operation/operatorOperation.ts";

export type RestoreMark = { epoch: number };

/** Tells of a restore that nothing else shows: a dump that was put back into the same server. */
export const markRestore = defineOperatorOperation({
  effect: "write",
  input: {},
  async run(world): Promise<RestoreMark> {
    const epoch = await markRewind(world);
    world.wake.notify("events");
    return { epoch };
  },
});
