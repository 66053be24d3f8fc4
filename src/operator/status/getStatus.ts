import { sql } from "kysely";
import { describeAlarm, readAlarms } from "../../alarm/updateAlarms.ts";
import { getChainHealth } from "../../alarm/checkChain.ts";
import type { Caip2 } from "../../kernel/caip.ts";
import { formatUnits } from "../../kernel/units.ts";
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
};

type CountRow = { chain: Caip2; state: string; count: bigint };

/** The alarms, and what each chain has to do. It changes nothing. */
export async function getStatus(world: World): Promise<StatusOutput> {
  const alarms = await readAlarms(world);
  const [cursors, counts] = await Promise.all([listCursors(world.db), countOpen(world)]);
  const chains = world.config.chains.map(({ caip2, name, native }): ChainStatus => {
    const chain = world.chains.get(caip2);
    const health = chain === undefined ? undefined : getChainHealth(world, chain);
    const count = (state: string) =>
      Number(counts.find((row) => row.chain === caip2 && row.state === state)?.count ?? 0n);
    const cursor = cursors.find((each) => each.chain === caip2);
    const gas = health?.gas;
    return {
      chain: caip2,
      chainName: name,
      headBlock: health?.head === undefined ? null : String(health.head.number),
      scannedBlock: cursor === undefined ? null : String(cursor.number),
      deposits: { seen: count("deposit seen"), confirmed: count("deposit confirmed"), held: count("deposit held") },
      due: count("due"),
      settlements: {
        planned: count("settlement planned"),
        submitted: count("settlement submitted"),
        held: count("settlement held"),
      },
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

/** Each part reads an index of open rows. */
async function countOpen({ db }: Pick<World, "db">): Promise<CountRow[]> {
  const { rows } = await sql<CountRow>`
    select chain, 'deposit ' || status as state, count(*) as count from deposit
      where status in ('seen', 'confirmed') group by chain, status
    union all select chain, 'deposit held', count(*) from deposit where status = 'held' group by chain
    union all select chain, 'due', count(*) from holding where due_from is not null group by chain
    union all select chain, 'settlement ' || status, count(*) from settlement
      where status in ('planned', 'submitted', 'held') group by chain, status`.execute(db.root);
  return rows;
}
