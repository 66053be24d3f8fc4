import { describeAlarm, readAlarms } from "../../alarm/updateAlarms.ts";
import { readProviderHints } from "../../health/providerHints.ts";
import { countRows, readOpenRows } from "../../health/openRows.ts";
import { getChainHealth } from "../../health/sampleChain.ts";
import { formatUnits } from "../../kernel/units.ts";
import { hintsOf, type HintOutput } from "./hints.ts";
import { listCursors } from "../../watch/store/store.ts";
import type { World } from "../../world.ts";

export type StatusOutput = {
  baseUrl: string;
  alarms: ReturnType<typeof describeAlarm>[];
  chains: ChainStatus[];
};

/** What one chain has to do. Block numbers are strings, null means unknown. */
export type ChainStatus = {
  chain: string;
  chainName: string;
  headBlock: string | null;
  scannedBlock: string | null;
  deposits: { seen: number; confirmed: number; held: number };
  /** Inboxes with counted money that no settlement covers yet. */
  due: number;
  settlements: { planned: number; submitted: number; held: number };
  gas: { account: string; balance: string; settlementsLeft: string } | null;
  /** Providers whose webhooks say where to look. */
  hints: HintOutput[];
};

/** The alarms, and what each chain has to do. It changes nothing. */
export async function getStatus(world: World): Promise<StatusOutput> {
  const alarms = await readAlarms(world);
  const [cursors, open, hints] = await Promise.all([
    listCursors(world.db),
    readOpenRows(world),
    readProviderHints(world),
  ]);
  const chains = world.config.chains.map(({ caip2, name, native }): ChainStatus => {
    const chain = world.chains.get(caip2);
    const health = chain === undefined ? undefined : getChainHealth(world, chain);
    const deposits = (status: string) => countRows(open, { chain: caip2, kind: "deposit", status });
    const settlements = (status: string) => countRows(open, { chain: caip2, kind: "settlement", status });
    const cursor = cursors.find((each) => each.chain === caip2);
    const gas = health?.gas;
    return {
      chain: caip2,
      chainName: name,
      headBlock: health?.head === undefined ? null : String(health.head.number),
      scannedBlock: cursor === undefined ? null : String(cursor.number),
      deposits: { seen: deposits("seen"), confirmed: deposits("confirmed"), held: deposits("held") },
      due: countRows(open, { chain: caip2, kind: "due", status: "due" }),
      settlements: {
        planned: settlements("planned"),
        submitted: settlements("submitted"),
        held: settlements("held"),
      },
      hints: hintsOf(hints, caip2),
      gas:
        gas === undefined || chain === undefined
          ? null
          : {
              account: chain.sender.payer,
              balance: `${formatUnits(gas.balance, native.decimals)} ${native.symbol}`,
              settlementsLeft: gas.fee === 0n ? "many" : String(gas.balance / gas.fee),
            },
    };
  });
  return { baseUrl: world.config.baseUrl, alarms: alarms.map(describeAlarm), chains };
}
