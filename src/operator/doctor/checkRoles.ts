import { ROLES } from "../../config/operate/roles.ts";
import { listProcesses } from "../../health/processStore.ts";
import type { World } from "../../world.ts";
import type { Finding } from "./finding.ts";

/** Which roles run, in how many processes. Without any process it says so once. */
export async function checkRoles({ db, clock }: Pick<World, "db" | "clock">): Promise<Finding[]> {
  const processes = await listProcesses(db, clock.now());
  if (processes.length === 0) return [{ what: "roles", verdict: "warn", found: "no process runs" }];
  const versions = [...new Set(processes.map(({ version }) => version))];
  return [
    ...ROLES.map((role): Finding => {
      const count = processes.filter(({ roles }) => roles.includes(role)).length;
      const what = `role ${role}`;
      if (count === 0) return { what, verdict: "fail", found: "no process has it" };
      return { what, verdict: "ok", found: count === 1 ? "in 1 process" : `in ${count} processes` };
    }),
    ...(versions.length > 1
      ? [{ what: "versions", verdict: "warn", found: `processes of ${versions.join(" and ")} run` } as const]
      : []),
  ];
}
