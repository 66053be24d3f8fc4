import { hashWidgetToken } from "../../src/intent/checkout/widgetToken.ts";
import { checkCrossings } from "./bridge/checkCrossings.ts";
import type { ScriptedBlock } from "./chain/transaction.ts";
import type { SimDatabase } from "./simDatabase.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import type { Actors } from "./actors.ts";
import { isReached } from "./watchfulPayers.ts";
import { LISTED_DEPOSITS, type Violation } from "./invariants.ts";
import { namingOf, type SimChain } from "./simWorld.ts";

// Rules of the final state, after all faults have ended: the rows match the chains' transfers, and events match the
// rows.

type Movement = {
  chain: string;
  chain_tx: string;
  identity: string;
  direction: string;
  inbox: string;
  token: string;
  counterparty: string;
  amount_units: bigint;
  block_hash: string;
  place: bigint;
};

type FinalState = { database: SimDatabase; chains: readonly SimChain[]; actors: Actors };

export function checkFinalState(ended: FinalState): Violation[] {
  return [
    ...checkMovements(ended),
    ...checkPayouts(ended),
    ...checkSettlementGross(ended),
    ...checkStarvedSettlements(ended),
    ...checkReceivedUnits(ended),
    ...checkAskedPayments(ended),
    ...checkAcknowledgedCreates(ended),
    ...checkWidgetTokens(ended),
    ...checkCrossings({ ...ended, intents: [...ended.actors.intents.values()] }),
  ];
}

/** The movement table holds every transfer into or out of an inbox as the chain shows it, and nothing else. */
function checkMovements({ database, chains, actors }: FinalState): Violation[] {
  const inboxes = new Set([...actors.intents.values()].map(({ row }) => row.inbox_address));
  const rows = database.rows("select * from movement where orphaned_at is null") as Movement[];
  const recorded = new Set(rows.map(keyOf));
  const real = chains.flatMap((chain) => movementsOnChain(chain, inboxes)).map(keyOf);
  const isReal = new Set(real);
  return [
    ...real
      .filter((key) => !recorded.has(key))
      .map((subject) => ({ rule: "a transfer of the chain is lost", subject })),
    ...[...recorded]
      .filter((key) => !isReal.has(key))
      .map((subject) => ({ rule: "a recorded movement is not on the chain", subject })),
  ];
}

function movementsOnChain({ chain, plan, tokens, firstBlock }: SimChain, inboxes: ReadonlySet<string>): Movement[] {
  const watched = new Set(tokens.filter(({ isUnconfigured }) => !isUnconfigured).map(({ address }) => address));
  return canonicalBlocks(chain, firstBlock)
    .flatMap(({ receipts }) => receipts.flatMap((receipt) => namingOf(plan.kind).transfersOf(receipt)))
    .flatMap(({ token, from, to, amountText, chainTx, place, identity, blockHash }) => {
      const amount_units = BigInt(amountText);
      if (!watched.has(token) || amount_units === 0n) return [];
      const moved = {
        chain: chain.caip2,
        chain_tx: chainTx,
        identity,
        token,
        amount_units,
        block_hash: blockHash,
        place,
      };
      return [
        ...(inboxes.has(to) ? [{ ...moved, direction: "in", inbox: to, counterparty: from }] : []),
        ...(inboxes.has(from) ? [{ ...moved, direction: "out", inbox: from, counterparty: to }] : []),
      ];
    });
}

function canonicalBlocks(chain: SimChain["chain"], firstBlock: number): ScriptedBlock[] {
  const blocks: ScriptedBlock[] = [];
  for (let number = BigInt(firstBlock) + 1n; number <= chain.head.number; number += 1n) {
    const block = chain.blockAt(number);
    if (block) blocks.push(block);
  }
  return blocks;
}

function keyOf(movement: Movement): string {
  const { chain, chain_tx, identity, direction, inbox, token, counterparty, amount_units, block_hash, place } =
    movement;
  return [
    chain,
    chain_tx.slice(0, 12),
    identity,
    direction,
    inbox,
    token,
    counterparty,
    amount_units,
    block_hash.slice(0, 10),
    place,
  ].join(" ");
}

/** Merchants hold exactly the sum of their settlements. */
function checkPayouts({ database, chains, actors }: FinalState): Violation[] {
  const landed = database.rows(`
    select coalesce(settlement.landed_chain, settlement.chain) as chain, intent.payout_wallet as wallet,
      case when settlement.landed_chain is null then settlement.token else intent.payout_token end as token,
      sum(settlement.net_units) as units
    from settlement join intent on intent.id = settlement.intent_id where settlement.status = 'landed'
    group by 1, 2, 3`) as { chain: string; token: string; wallet: string; units: bigint }[];
  const reported = new Map(landed.map(({ chain, token, wallet, units }) => [`${chain}/${token}/${wallet}`, units]));
  const wallets = [...new Set([...actors.intents.values()].map(({ row }) => row.payout_wallet))];
  return chains.flatMap(({ chain, tokens }) =>
    tokens.flatMap(({ address, isUnconfigured }) =>
      isUnconfigured
        ? []
        : wallets.flatMap((wallet) => {
            const has = chain.unitsOf(address, wallet);
            const expected = reported.get(`${chain.caip2}/${address}/${wallet}`) ?? 0n;
            return has === expected
              ? []
              : [
                  {
                    rule: "a merchant's balance differs from its settlements",
                    subject: `${wallet} has ${has}, settlements ${expected}`,
                  },
                ];
          }),
    ),
  );
}

/**
 * No inbox fails twice for lack of gas. Once is possible: the issuer blocks the fee wallet between the simulation and
 * the block, and then it stays blocked.
 */
function checkStarvedSettlements({ chains }: FinalState): Violation[] {
  return chains.flatMap(({ chain, firstBlock }) => {
    const logs = canonicalBlocks(chain, firstBlock).flatMap(({ receipts }) =>
      receipts.flatMap((receipt) => receipt.logs),
    );
    const starved = logs.flatMap(({ starvedInbox }) => (starvedInbox === undefined ? [] : [starvedInbox]));
    return [...Map.groupBy(starved, (inbox) => inbox)]
      .filter(([, failures]) => failures.length > 1)
      .map(([inbox, failures]) => ({
        rule: "an inbox fails repeatedly for lack of gas",
        subject: `${inbox} failed ${failures.length} times`,
      }));
  });
}

/**
 * The deposits of a settlement sum to its gross amount. A burn also takes what the burn before it left, and may leave a
 * rest itself.
 */
function checkSettlementGross({ database }: FinalState): Violation[] {
  const rows = database.rows(`
    with balance as (
      select *, sum(case direction when 'in' then amount_units else -amount_units end) over (
        partition by intent_id, chain, token order by block_number, place, direction) as units
      from movement where orphaned_at is null
    ), departure as (
      select *, lag(units, 1, 0) over (partition by intent_id, chain, token order by block_number, place) as before_units
      from balance where direction = 'out'
    )
    select settlement.id, settlement.gross_units as gross,
      coalesce(sum(deposit.amount_units), 0) + coalesce(departure.before_units - departure.units, 0) as units
    from settlement left join ${LISTED_DEPOSITS} as deposit on deposit.settlement_id = settlement.id
    left join departure on departure.id = settlement.burn_id
    where settlement.status = 'landed' group by settlement.id, departure.before_units, departure.units
    having settlement.gross_units <> coalesce(sum(deposit.amount_units), 0) + coalesce(departure.before_units - departure.units, 0)
    order by 1`) as { id: string; gross: bigint; units: bigint }[];
  return rows.map(({ id, gross, units }) => ({
    rule: "a settlement differs from the sum of its deposits",
    subject: `${id} took ${gross}, its deposits sum to ${units}`,
  }));
}

/** An intent's received amount is the sum of its deposits without dropped and held ones. */
function checkReceivedUnits({ database }: FinalState): Violation[] {
  const rows = database.rows(`
    select intent.id, intent.received_units as received, coalesce(sum(deposit.amount_units), 0) as units
    from intent left join ${LISTED_DEPOSITS} as deposit on deposit.intent_id = intent.id and deposit.status in ('seen', 'confirmed', 'counted')
    group by intent.id having intent.received_units <> coalesce(sum(deposit.amount_units), 0) order by 1`) as {
    id: string;
    received: bigint;
    units: bigint;
  }[];
  return rows.map(({ id, received, units }) => ({
    rule: "an intent's received amount differs from its deposits",
    subject: `${id} received ${received}, its deposits sum to ${units}`,
  }));
}

/**
 * Whoever pays what the page asks for is paid. Only a reorganisation deeper than the policy tolerates may take a
 * payment back.
 */
function checkAskedPayments({ database, chains, actors }: FinalState): Violation[] {
  if (chains.some(({ hadDeepReorg }) => hadDeepReorg)) return [];
  const rows = database.rows("select * from intent") as IntentRow[];
  return rows
    .filter((intent) => actors.asked.has(intent.id) && !isReached(intent, intent.counted_units))
    .map(({ id }) => ({ rule: "a payer paid what the page asked for, and the intent is not paid", subject: id }));
}

/** Every acknowledged create exists. */
function checkAcknowledgedCreates({ database, actors }: FinalState): Violation[] {
  const rows = database.rows("select id from intent") as { id: string }[];
  const kept = new Set(rows.map(({ id }) => id));
  return actors.creates.flatMap(({ response }) =>
    response === undefined || kept.has(response.intentId)
      ? []
      : [{ rule: "an acknowledged create is lost", subject: response.intentId }],
  );
}

/**
 * The latest token opens the page of its intent. Of overlapping creates, any may be the latest, even one without an
 * answer.
 */
function checkWidgetTokens({ database, actors }: FinalState): Violation[] {
  const rows = database.rows("select id, widget_token_hash as hash from intent") as { id: string; hash: Uint8Array }[];
  const hashOf = new Map(rows.map(({ id, hash }) => [id, Buffer.from(hash).toString("hex")]));
  const byIntent = Map.groupBy(actors.creates, ({ response }) => response?.intentId);
  return [...byIntent].flatMap(([intentId, calls]) => {
    if (intentId === undefined) return [];
    const answers = calls.flatMap(({ response, startedMs }) => (response ? [{ ...response, startedMs }] : []));
    const last = answers.reduce((latest, one) => Math.max(latest, one.startedMs), 0);
    const key = calls[0]?.key;
    const isUnsure = actors.creates.some((call) => call.response === undefined && call.key === key);
    if (isUnsure) return [];
    const possible = answers.filter(({ endedMs }) => endedMs >= last);
    const live = hashOf.get(intentId);
    const isLive = possible.some(
      ({ widgetToken }) => Buffer.from(hashWidgetToken(widgetToken)).toString("hex") === live,
    );
    return isLive ? [] : [{ rule: "the latest widget token opens nothing", subject: intentId }];
  });
}

/** Work that must finish before the final checks; empty when all is at rest. */
export function listUnfinishedWork(
  { database, chains, actors }: FinalState,
  options: { ignoresHeld: boolean },
): string[] {
  const open: string[] = [];
  if (actors.pendingActions > 0) open.push(`${actors.pendingActions} actions are pending`);
  // Such a payment may still wait for its block.
  open.push(...checkAskedPayments({ database, chains, actors }).map(({ rule, subject }) => `${rule}: ${subject}`));
  const cursors = database.rows("select * from chain_cursor") as {
    chain: string;
    number: bigint;
    reread_number: bigint;
    finalized_number: bigint;
  }[];
  for (const { chain, plan } of chains) {
    const cursor = cursors.find((one) => one.chain === chain.caip2);
    const needed = lastNonEmptyBlock(chain) + BigInt((plan.finalityLag?.finalized ?? 5) + 1);
    if (!cursor || chain.head.number < needed || cursor.number < needed)
      open.push(`${plan.name} is at ${cursor?.number} of ${needed}`);
    else if (plan.finalityLag && cursor.reread_number < lastNonEmptyBlock(chain))
      open.push(`${plan.name} is not reread`);
    if (chain.pool.pending.some(({ paysGas }) => paysGas)) open.push(`${plan.name} has waiting transactions`);
  }
  // A hidden transfer leaves no row that is unfinished. The balance of its inbox shows it within the hour. On a chain
  // that is read by accounts a block hides what no payer looks at, until the next pass over all inboxes.
  if (hasHiddenTransfers(chains) || chains.some(({ plan }) => plan.isReadByAccounts))
    open.push(...checkMovements({ database, chains, actors }).map(({ rule, subject }) => `${rule}: ${subject}`));
  const [rows] = database.rows(UNFINISHED_WORK_SQL) as { open: string[] | null }[];
  for (const item of rows?.open ?? []) if (!(options.ignoresHeld && item.startsWith("held "))) open.push(item);
  return open;
}

/** Whether a single provider left out transfers at every reading for a while, or no reader could parse them. */
export function hasHiddenTransfers(chains: readonly SimChain[]): boolean {
  const isAny = (untils: ReadonlyMap<string, number | undefined>) => [...untils.values()].some((untilMs) => untilMs);
  return chains.some(({ nodes }) =>
    nodes.some(
      ({ hiddenTxs, unreadable }) => isAny(hiddenTxs) || isAny(unreadable.payments) || isAny(unreadable.inboxes),
    ),
  );
}

/** The number of the last block with transactions. */
function lastNonEmptyBlock(chain: SimChain["chain"]): bigint {
  for (let number = chain.head.number; number > 0n; number -= 1n) {
    if ((chain.blockAt(number)?.transactions.length ?? 0) > 0) return number;
  }
  return 0n;
}

// The rows of deposits are read once: a statement for each of thousands would read all others again.
const UNFINISHED_WORK_SQL = `
  with listed as materialized (select * from ${LISTED_DEPOSITS} as each), inboxes as materialized (
    select intent_id, chain, token, count(*) filter (where status = 'confirmed') as confirmed_count,
      sum(amount_units) filter (where status = 'confirmed') as confirmed_units,
      sum(amount_units) filter (where status = 'counted' and settlement_id is null) as unswept_units
    from listed group by intent_id, chain, token)
  select array_agg(what order by what) as open from (
    select 'seen ' || movement_id as what from listed where status = 'seen'
    union all select 'stale ' || intent_id from holding where is_stale
    union all select 'quarantined ' || intent_id from quarantine
    union all select 'waiting ' || deposit.movement_id from listed as deposit join intent on intent.id = deposit.intent_id
      where deposit.status = 'confirmed' and (intent.price_token_units is null or intent.received_units * 10000
        < intent.price_token_units * (10000 - intent.underpay_tolerance_bps)) is distinct from true
    union all select 'waiting ' || deposit.movement_id from listed as deposit join intent on intent.id = deposit.intent_id
      where deposit.status = 'confirmed' and not exists (
        select from inboxes other where other.intent_id = deposit.intent_id and other.confirmed_count > 0
          and other.confirmed_units < pinned_minimum(intent, other.chain, other.token))
    union all select 'held ' || movement_id || ' ' || reason from listed where status = 'held' and reason <> 'no_route'
    union all select 'unswept ' || deposit.movement_id from listed as deposit join intent on intent.id = deposit.intent_id
      where deposit.status = 'counted' and settlement_id is null
        and not exists (select from settlement where settlement.intent_id = deposit.intent_id and settlement.chain = deposit.chain
          and settlement.token = deposit.token and settlement.status in ('planned','submitted','held'))
        and (intent.price_token_units >= pinned_minimum(intent, deposit.chain, deposit.token)
            and intent.settled_units * 10000 < intent.price_token_units * (10000 - intent.underpay_tolerance_bps)
          or (select unswept_units from inboxes other where other.intent_id = deposit.intent_id
          and other.token = deposit.token and other.chain = deposit.chain) >= pinned_minimum(intent, deposit.chain, deposit.token))
    union all select case when status = 'attested' and reason like 'settle_refused%' then 'held ' else 'crossing ' end || movement_id || ' ' || coalesce(reason, '')
      from crossing where status = 'burned' or status = 'attested' and queue <> 3
    union all select case when status in ('planned', 'held') and reason ~ '^(settle|bridge)_refused' or status = 'bridging' and exists (
        select from crossing where crossing.movement_id = settlement.burn_id
          and crossing.status = 'attested' and crossing.reason like 'settle_refused%')
      then 'held ' else 'settlement ' end || id || ' ' || status || ' ' || coalesce(reason, '')
      from settlement where status in ('planned','submitted','bridging','held') and not exists (
        select from crossing where crossing.movement_id = settlement.burn_id and crossing.status = 'attested' and crossing.queue = 3)
    union all select 'rest ' || burn.id || ' ' || sum(moved.units) from (
        select distinct on (intent_id, chain, token) * from movement where direction = 'out' and orphaned_at is null
        order by intent_id, chain, token, block_number desc, place desc
      ) as burn join intent on intent.id = burn.intent_id cross join lateral (
        select case direction when 'in' then amount_units else -amount_units end as units from movement
        where movement.intent_id = burn.intent_id and movement.chain = burn.chain and movement.token = burn.token
          and movement.orphaned_at is null and (movement.block_number, movement.place) <= (burn.block_number, burn.place)
      ) as moved
      where burn.explained_by is not null
        and not exists (select from settlement where settlement.intent_id = burn.intent_id and settlement.chain = burn.chain
          and settlement.token = burn.token and settlement.status in ('planned','submitted','held'))
      group by burn.id, burn.chain, burn.token, intent.id having sum(moved.units) >= greatest(pinned_minimum(intent, burn.chain, burn.token), 1)
    union all select 'undelivered ' || id from intent
      where counted_units > 0 and counted_units * 10000 >= price_token_units * (10000 - underpay_tolerance_bps)
        and settled_units * 10000 < price_token_units * (10000 - underpay_tolerance_bps)
        and not exists (select from settlement where settlement.intent_id = intent.id and settlement.status in ('planned','submitted','held','bridging'))
    union all select 'asking ' || chain_tx from sweep_agreement where state = 'asking'
    union all select 'unstamped ' || position from event where sequence is null
    union all select 'unprocessed ' || movement.id from movement left join deposit_cursor as taken on taken.chain = movement.chain
      where direction = 'in' and (movement.revision, movement.id) > (coalesce(taken.revision, 0), coalesce(taken.movement_id, 0))
    union all select 'unobserved ' || movement.id from movement left join settlement_cursor as taken on taken.chain = movement.chain
      where direction = 'out' and (movement.revision, movement.id) > (coalesce(taken.revision, 0), coalesce(taken.movement_id, 0))
    union all select 'transaction ' || outgoing_transaction.id from outgoing_transaction join chain_cursor on chain_cursor.chain = outgoing_transaction.chain
      where outgoing_transaction.status = 'signed' and chain_cursor.finalized_number > 0
  ) as open`;
