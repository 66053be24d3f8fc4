import type { Chain } from "../../chain/chain.ts";
import { perChain } from "../perChain.ts";
import { ProviderFailed } from "../../chain/reader.ts";
import { warnRepeated } from "../../kernel/alarm/repeatedWarning.ts";
import type { ComparedBalance } from "../reconcile/comparedBalance.ts";
import { isDifferent } from "../reconcile/compareInboxes.ts";
import { explainableDifferences, resolveEqual, storeDifference } from "../reconcile/reconcileBalances.ts";
import type { WatchWorld } from "../watchWorld.ts";
import type { KnownBlock } from "../store/store.ts";
import { findDeposits, type FoundDeposits } from "./findDeposits.ts";
import { nameOmittingProviders } from "../reconcile/nameFaultyProviders.ts";

/** Providers list an inbox's transactions some seconds after they show its balance. */
const UNEXPLAINED_MS = 60_000;
const CONCURRENT_INBOXES_MAX = 4;

/** Since when a balance differs without an explanation, by inbox, token and provider, on the monotonic clock. */
const unexplainedSince = perChain(() => new Map<string, number>());

type ComparedPage = { cursor: KnownBlock; isReverse: boolean };

/**
 * Records what explains each balance that differs. What nothing explains for some time becomes a difference, which
 * raises an alarm.
 */
export async function explainBalances(
  world: WatchWorld,
  chain: Chain,
  { cursor, balances, isReverse }: ComparedPage & { balances: readonly ComparedBalance[] },
): Promise<void> {
  const unexplainedSinceMs = unexplainedSince(world, chain);
  await resolveEqual(world, chain, balances);
  const differing: ComparedBalance[] = [];
  for (const balance of balances) {
    if (isDifferent(balance)) differing.push(balance);
    else unexplainedSinceMs.delete(keyOf(balance));
  }
  // One inbox with many transfers keeps none of the others waiting.
  const next = differing.values();
  const explainNext = async () => {
    for (const balance of next) await explainBalance(world, chain, { cursor, balance, isReverse });
  };
  await Promise.all(Array.from({ length: CONCURRENT_INBOXES_MAX }, explainNext));
}

async function explainBalance(
  world: WatchWorld,
  chain: Chain,
  { cursor, balance, isReverse }: ComparedPage & { balance: ComparedBalance },
): Promise<void> {
  const unexplainedSinceMs = unexplainedSince(world, chain);
  const key = keyOf(balance);
  const { isPartial, recorded } = await tryFindDeposits(world, chain, { cursor, balance });
  const [deposit] = recorded;
  if (deposit && isReverse) await nameOmittingProviders(world, chain, deposit);
  const nowMs = world.clock.monotonicMs();
  if (deposit || isPartial) unexplainedSinceMs.delete(key);
  else if (!unexplainedSinceMs.has(key)) unexplainedSinceMs.set(key, nowMs);
  if (nowMs - (unexplainedSinceMs.get(key) ?? nowMs) < UNEXPLAINED_MS) return;
  // Providers may not have the blocks above the cursor yet, and nothing is recorded there.
  const blockNumber = balance.blockNumber < cursor.number ? balance.blockNumber : cursor.number;
  // Its search comes after the pass: no inbox may hold up the others.
  for (const each of await explainableDifferences(world, chain, [{ ...balance, blockNumber }]))
    await storeDifference(world, chain, each);
}

/**
 * A failure counts as a search that explained nothing, so that an inbox that always fails is reported and holds up no
 * other.
 */
async function tryFindDeposits(...search: Parameters<typeof findDeposits>): Promise<FoundDeposits> {
  try {
    return await findDeposits(...search);
  } catch (error) {
    if (!(error instanceof ProviderFailed)) throw error;
    const [{ log, clock }, { caip2 }, { balance }] = search;
    warnRepeated(
      { log, clock },
      {
        key: `accounts ${caip2} ${balance.inbox} ${error.kind}`,
        fields: { chain: caip2, inbox: balance.inbox, err: error },
        message: "the transfers of an inbox whose balance differs cannot be read",
      },
    );
    return { isPartial: false, recorded: [] };
  }
}

function keyOf({ inbox, token, provider }: ComparedBalance): string {
  return `${inbox} ${token} ${provider}`;
}
