import type { ChainConfig } from "../../config/config.ts";
import { countDifferences, listPasses, type BalancePass } from "../../watch/reconcile/balanceStore.ts";
import type { World } from "../../world.ts";
import type { Finding } from "./finding.ts";

/** A complete pass over all inboxes takes a day; after two, the comparison does not work. */
const FULL_PASS_MS_MAX = 2 * 86_400_000;

/** Describes when the balances of all inboxes of each chain were last compared with the ledger, and how many differ. */
export async function checkBalances(world: World): Promise<Finding[]> {
  const [passes, differences] = await Promise.all([listPasses(world.db), countDifferences(world.db)]);
  return world.config.chains.flatMap((config) => {
    const full = passes.find(({ chain, scope }) => chain === config.caip2 && scope === "all");
    const count = differences.find(({ chain }) => chain === config.caip2)?.count ?? 0n;
    return full === undefined ? [] : [balanceFinding(world, config, { full, count })];
  });
}

function balanceFinding(
  world: World,
  { name }: ChainConfig,
  { full, count }: { full: BalancePass; count: bigint },
): Finding {
  const what = `${name}: balances`;
  const { completed_at: completedAt, completed_count: inboxes, compared_count: compared } = full;
  const last =
    completedAt === null
      ? `the first comparison of all inboxes has compared ${compared}`
      : `${inboxes ?? 0n} inboxes compared until ${completedAt.toISOString()}`;
  if (count > 0n)
    return { what, verdict: "fail", found: `${count} differ from the ledger: run doctor --ledger; ${last}` };
  const isLate = completedAt !== null && world.clock.now().getTime() - completedAt.getTime() > FULL_PASS_MS_MAX;
  return { what, verdict: isLate ? "warn" : "ok", found: `no difference, ${last}` };
}
