import { productVersion } from "../config/operate/productVersion.ts";
import { ROLES } from "../config/operate/roles.ts";
import { REPORT_MS, reportProcess } from "../health/processStore.ts";
import type { World } from "../world.ts";
import type { Loop } from "./loop.ts";

const ID_BYTES = 8;

/** Writes that this process runs and what it does, so that `doctor` and the alarms see which roles nobody has. */
export function reportProcessLoop({ db, clock, config, entropy }: World): Loop {
  const { roles = new Set(ROLES) } = config;
  const report = {
    id: Buffer.from(entropy.bytes(ID_BYTES)).toString("hex"),
    roles: ROLES.filter((role) => roles.has(role)),
    version: productVersion(),
    startedAt: clock.now(),
  };
  return {
    name: "process",
    topic: "process",
    intervalMs: REPORT_MS,
    tick: async () => {
      await reportProcess(db, report, clock.now());
      return false;
    },
  };
}
