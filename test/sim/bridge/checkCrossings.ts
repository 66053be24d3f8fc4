import { parseBurnMessage, toMessageAccount } from "@tributary/inbox/burnMessage";
import { parseProvenCrossings } from "../../../src/chain/evm/bridge/provenCrossings.ts";
import type { ScriptedReceipt } from "../chain/transaction.ts";
import { LISTED_DEPOSITS, type Violation } from "../invariants.ts";
import type { SimDatabase } from "../simDatabase.ts";
import { FEE_RECIPIENT, GAS_ADDRESS, type SimChain, type TrackedIntent } from "../simWorld.ts";
import { nonceOf } from "./attestationService.ts";

// Rules of crossings in the final state. The chains are the truth: their messages say what was burnt, and their events
// what was given.

/** Far below every minimum. */
const SMALL_UNITS = 1_000n;
const HOUR_S = 3_600;
const STEPS_MAX = 4;

type Burn = {
  chain: SimChain;
  settle: SimChain;
  chainTx: string;
  name: string;
  sender: string;
  recipient: string;
  units: bigint;
  /** Whether the inbox paid on what the bridge gave it. */
  isSwept: boolean;
  /** What the bridge kept; undefined before it is received. */
  feeUnits: bigint | undefined;
};

type BridgedWorld = { database: SimDatabase; chains: readonly SimChain[]; intents: readonly TrackedIntent[] };

export function checkCrossings({ database, chains, intents }: BridgedWorld): Violation[] {
  if (chains.every(({ chain }) => chain.bridge === undefined)) return [];
  const mints = new Map(chains.map((chain) => [chain, listMints(chain)]));
  const burns = chains.flatMap((chain) => listBurns(chain, { chains, mints }));
  const ofInboxes = burns.filter(({ sender, recipient }) => sender === recipient);
  return [
    ...checkEveryBurnHasCrossing(database, ofInboxes),
    ...checkCosts(database, ofInboxes),
    ...checkDeposits(database, { burns, intents }),
    ...checkConservation({ burns, chains, intents }),
    ...checkSmallMints(chains),
  ];
}

/** Every burn of an inbox is one crossing. What was received and paid on is landed, with the units that were burnt. */
function checkEveryBurnHasCrossing(database: SimDatabase, burns: readonly Burn[]): Violation[] {
  const rows = database.rows(`
    select crossing.chain, crossing.chain_tx, crossing.units, crossing.status, crossing.reason, coalesce(crossing.mint, '') as mint
    from crossing`) as {
    chain: string;
    chain_tx: string;
    units: bigint;
    status: string;
    reason: string;
    mint: string;
  }[];
  const keyOf = (chain: string, chainTx: string, units: bigint) => `${chain}/${chainTx.slice(0, 10)}/${units}`;
  const recorded = Map.groupBy(rows, ({ chain, chain_tx, units }) => keyOf(chain, chain_tx, units));
  const burnt = Map.groupBy(burns, ({ chain, chainTx, units }) => keyOf(chain.chain.caip2, chainTx, units));
  const violations: Violation[] = [];
  for (const [key, crossings] of recorded) {
    const real = burnt.get(key)?.length ?? 0;
    if (real !== crossings.length)
      violations.push({ rule: "a crossing is not on the chain", subject: `${key}: ${crossings.length} of ${real}` });
  }
  for (const [key, real] of burnt) {
    const crossings = recorded.get(key) ?? [];
    if (crossings.length === 0) violations.push({ rule: "a burn of the chain is lost", subject: key });
    const landed = crossings.filter(({ status }) => status === "landed");
    const swept = real.filter(({ isSwept }) => isSwept);
    if (landed.length !== swept.length)
      violations.push({
        rule: "crossings landed differ from those paid on",
        subject: `${key}: ${landed.length} of ${swept.length}`,
      });
    const held = crossings.find(({ status, reason }) => status !== "landed" && reason === null);
    if (held !== undefined) violations.push({ rule: "a crossing waits without a reason", subject: key });
  }
  return violations;
}

/** Each bridged settlement is of one burn, and costs what the bridge kept of it. */
function checkCosts(database: SimDatabase, burns: readonly Burn[]): Violation[] {
  const rows = database.rows(`
    select settlement.id, settlement.chain, settlement.chain_tx, coalesce(crossing.mint, '') as mint, settlement.gross_units as gross,
      settlement.route_cost_units as cost
    from settlement left join crossing on crossing.movement_id = settlement.burn_id
    where settlement.status = 'landed' and settlement.landed_chain is not null`) as {
    id: string;
    chain: string;
    chain_tx: string;
    mint: string;
    gross: bigint;
    cost: bigint;
  }[];
  const named = new Map(burns.map((burn) => [burn.name, burn]));
  const keyOf = (chain: string, { chainTx, sender, units }: Pick<Burn, "chainTx" | "sender" | "units">) =>
    `${chain}/${chainTx}/${sender}/${units}`;
  const known = new Set(burns.map((burn) => keyOf(burn.chain.chain.caip2, burn)));
  return rows.flatMap(({ id, chain, chain_tx: chainTx, mint, gross, cost }) => {
    const own = named.get(mint);
    // The service may answer one of two equal burns of an inbox with the proof of the other one.
    const isOfBurn = own !== undefined && known.has(keyOf(chain, { ...own, chainTx }));
    if (isOfBurn && own.feeUnits === cost && own.units === gross) return [];
    const subject = `${id}: ${gross} of ${own?.units}, cost ${cost} of ${own?.feeUnits}`;
    return [{ rule: "a bridged settlement differs from its burn", subject }];
  });
}

/** What an inbox's own burn gave is no deposit. What a payer's own burn gave is one. */
function checkDeposits(
  database: SimDatabase,
  { burns, intents }: { burns: readonly Burn[]; intents: readonly TrackedIntent[] },
): Violation[] {
  const rows = database.rows(`
    select chain, chain_tx, amount_units as units, intent_id from ${LISTED_DEPOSITS} as listed where status <> 'dropped'`) as {
    chain: string;
    chain_tx: string;
    units: bigint;
    intent_id: string;
  }[];
  return intents.flatMap(({ chain, row }) => {
    const bridge = chain.chain.bridge;
    if (row.payout_token !== bridge?.token) return [];
    const inbox = toMessageAccount(row.inbox_address);
    const given = receiptsOf(chain).flatMap(({ chainTx, logs }) =>
      parseProvenCrossings(logs, bridge)
        .filter(({ direction, recipient }) => direction === "in" && recipient === row.inbox_address)
        .map((each) => ({ ...each, chainTx })),
    );
    const deposits = rows.filter(({ chain: of, intent_id }) => of === chain.chain.caip2 && intent_id === row.id);
    return [...Map.groupBy(given, ({ chainTx }) => chainTx)].flatMap(([chainTx, mints]) => {
      const foreign = mints.filter(({ sender }) => sender !== row.inbox_address).map(({ units }) => units);
      const credited = deposits.filter(({ chain_tx }) => chain_tx === chainTx).map(({ units }) => units);
      const isEqual = sortUnits(foreign).join() === sortUnits(credited).join();
      const isKnown = burns.some(({ recipient }) => recipient === inbox);
      return isEqual && isKnown
        ? []
        : [
            {
              rule: "deposits differ from what payers bridged",
              subject: `${chainTx.slice(0, 10)}: ${credited.join()} of ${foreign.join()}`,
            },
          ];
    });
  });
}

/**
 * Of what came into inboxes from outside, nothing is missing and nothing was added: it was paid out, kept by the
 * bridge, or waits.
 */
function checkConservation({
  burns,
  chains,
  intents,
}: Omit<BridgedWorld, "database"> & { burns: readonly Burn[] }): Violation[] {
  const inboxes = new Set(intents.map(({ row }) => row.inbox_address));
  const wallets = new Set([FEE_RECIPIENT, ...intents.map(({ row }) => row.payout_wallet)]);
  let [paid, held] = [0n, 0n];
  for (const chain of chains) {
    const { bridge } = chain.chain;
    if (bridge === undefined) continue;
    const receipts = receiptsOf(chain);
    const into = receipts.flatMap(({ logs }) =>
      logs.flatMap(({ address, transfer }) => (address === bridge.token && transfer ? transfer : [])),
    );
    paid += sumUnits(into.filter(({ to }) => inboxes.has(to)));
    const given = receipts.flatMap(({ logs }) => parseProvenCrossings(logs, bridge));
    paid -= sumUnits(
      given.filter(
        (each) => each.direction === "in" && each.sender === each.recipient && inboxes.has(each.recipient ?? ""),
      ),
    );
    for (const address of [...inboxes, ...wallets]) held += chain.chain.unitsOf(bridge.token, address);
  }
  const inboxAccounts = new Set([...inboxes].map(toMessageAccount));
  for (const { sender, units, feeUnits } of burns) if (inboxAccounts.has(sender)) held += feeUnits ?? units;
  return paid === held ? [] : [{ rule: "money is missing or was added", subject: `paid ${paid}, found ${held}` }];
}

/** What a burn of a few units gives is received by the service at most once an hour. */
function checkSmallMints(chains: readonly SimChain[]): Violation[] {
  return chains.flatMap((chain) => {
    const { bridge } = chain.chain;
    if (bridge === undefined || (chain.plan.tokens[0]?.minimumUnits ?? 0n) < SMALL_UNITS) return [];
    const small = receiptsOf(chain).filter(({ sender, logs }) => {
      const mints = parseProvenCrossings(logs, bridge).filter(({ direction }) => direction === "in");
      return sender === GAS_ADDRESS && mints.length > 0 && mints.every(({ units }) => units < SMALL_UNITS);
    });
    const firstS = chain.chain.blockAt(BigInt(chain.firstBlock))?.timestampS ?? 0;
    // A clock that steps frees a turn early.
    const turns = Math.floor((chain.chain.head.timestampS - firstS) / HOUR_S) + 1 + STEPS_MAX;
    const rule = "the service receives what is worth less than its transaction";
    return small.length <= turns ? [] : [{ rule, subject: `${small.length} times in ${turns} turns` }];
  });
}

function sumUnits(moves: readonly { units: bigint }[]): bigint {
  return moves.reduce((sum, { units }) => sum + units, 0n);
}

function sortUnits(units: readonly bigint[]): bigint[] {
  return units.toSorted((one, other) => (one < other ? -1 : 1));
}

type Mint = Pick<Burn, "feeUnits" | "isSwept">;

function listBurns(
  chain: SimChain,
  { chains, mints }: { chains: readonly SimChain[]; mints: ReadonlyMap<SimChain, ReadonlyMap<string, Mint>> },
): Burn[] {
  const domain = chain.chain.bridge?.domain ?? 0;
  const sent = receiptsOf(chain).flatMap(({ chainTx, logs }) =>
    logs.flatMap((log, index) =>
      log.sent === undefined ? [] : [{ chainTx, index, message: parseBurnMessage(log.sent) }],
    ),
  );
  return sent.flatMap(({ chainTx, index, message }): Burn[] => {
    const settle = chains[message?.settleDomain ?? -1];
    if (message === undefined || settle === undefined) return [];
    const { sender, recipient, units } = message;
    const nonce = nonceOf(domain, chainTx, index);
    const name = `cctp-v2/${domain}/${nonce}`;
    const mint = mints.get(settle)?.get(name) ?? { feeUnits: undefined, isSwept: false };
    return [{ chain, settle, chainTx, name, sender, recipient, units, ...mint }];
  });
}

/**
 * What a bridge gave on a chain, by name. A refused payout keeps it in the inbox, and its settlement open. Each log is
 * read once: a stranger's burns are thousands.
 */
function listMints(settle: SimChain): ReadonlyMap<string, Mint> {
  const { bridge } = settle.chain;
  if (bridge === undefined) return new Map();
  const logs = receiptsOf(settle).flatMap((receipt) => receipt.logs);
  const lastFrom = new Map(
    logs.flatMap(({ address, transfer }, index) =>
      address === bridge.token && transfer ? [[transfer.from, index] as const] : [],
    ),
  );
  const mints = logs.flatMap((log, index) =>
    parseProvenCrossings([log], bridge)
      .filter(({ direction }) => direction === "in")
      .map(({ name, feeUnits, recipient = "" }) => {
        return [name, { feeUnits, isSwept: (lastFrom.get(recipient) ?? -1) >= index }] as const;
      }),
  );
  // Of a name, the first.
  return new Map(mints.toReversed());
}

function receiptsOf({ chain, firstBlock }: SimChain): ScriptedReceipt[] {
  const receipts: ScriptedReceipt[] = [];
  for (let number = BigInt(firstBlock) + 1n; number <= chain.head.number; number += 1n)
    receipts.push(...(chain.blockAt(number)?.receipts ?? []));
  return receipts;
}
