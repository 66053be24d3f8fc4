import { findWatchedChain } from "../../catalog/catalog.ts";
import type { Chain } from "../../chain/chain.ts";
import type { ProviderReply } from "../../chain/providers.ts";
import { balancesSince } from "../../chain/reader.ts";
import { listInboxesOfIntents } from "../../intent/inboxStore.ts";
import { assert } from "../../kernel/assert.ts";
import type { World } from "../../world.ts";
import { blocksIn, PROVIDER_LAG } from "../../watch/blockTime.ts";
import { findCursor } from "../../watch/store/store.ts";
import { listUnsweptTotals, type DueSettlement } from "../store.ts";
import { raiseAlarm } from "../../kernel/alarm/raiseAlarm.ts";

type BalanceWorld = Pick<World, "db" | "catalog" | "log" | "memory">;

/**
 * Why each inbox may not be swept yet; undefined where enough providers confirm the counted balance. A sweep of a
 * missing balance moves nothing, but costs a fee, and would show a single provider's false deposit as submitted. The
 * whole batch is in one token.
 */
export async function findBalanceDisagreements(
  world: BalanceWorld,
  chain: Chain,
  batch: readonly DueSettlement[],
): Promise<(string | undefined)[]> {
  const requiredProviders = findWatchedChain(world.catalog, chain.caip2)?.agreement?.providers;
  const cursor = requiredProviders === undefined ? undefined : await findCursor(world.db, chain.caip2);
  if (requiredProviders === undefined || cursor === undefined) return batch.map(() => undefined);
  const token = batch[0]?.settlement.token ?? "";
  const intentIds = batch.map(({ intent }) => intent.id);
  const unswept = await listUnsweptTotals(world.db, { chain: chain.caip2, token, intentIds });
  // As far below our newest block as an honest provider may be, but never below the block of the last counted deposit.
  const lagging = cursor.number - blocksIn(world, chain, PROVIDER_LAG);
  const blockNumber = highestBlock([lagging, ...unswept.map(({ lastBlock }) => lastBlock)]);
  const addresses = await listInboxesOfIntents(world.db, { chain: chain.caip2, token, intentIds });
  const inboxes = intentIds.map((intentId) => requireInbox(addresses, intentId));
  const replies = await chain.providers.runAll((reader) =>
    balancesSince(reader, token, { owners: inboxes, blockNumber }),
  );
  const counted = new Map(unswept.map((each) => [each.intentId, each.units]));
  return batch.map(({ intent, settlement }, index) => {
    const units = replies.map((each) => ("answer" in each ? each.answer[index] : undefined));
    const reason = balanceDisagreement(units, {
      needed: requiredProviders,
      countedUnits: counted.get(intent.id) ?? 0n,
    });
    if (reason !== undefined) {
      const facts = { alarm: reason, chain: chain.caip2, settlement: settlement.id, intent: intent.id };
      raiseAlarm(
        world.log,
        { ...facts, answers: replies.map((each) => formatReply(each, index)) },
        "an inbox is not swept: the chain's providers disagree on its balance",
      );
    }
    return reason;
  });
}

function requireInbox(addresses: ReadonlyMap<string, string>, intentId: string): string {
  const address = addresses.get(intentId);
  assert(address, `intent ${intentId} is to be swept on a chain where it has no inbox`);
  return address;
}

function highestBlock(blocks: readonly bigint[]): bigint {
  return blocks.reduce((last, block) => (block > last ? block : last), 0n);
}

type BalanceDisagreement = "provider_agreement_pending" | "balance_below_counted" | "provider_disagreement";

/** Pure: compares the providers' balances with the counted amount. An undefined balance is a missing answer. */
export function balanceDisagreement(
  units: readonly (bigint | undefined)[],
  { needed, countedUnits }: { needed: number; countedUnits: bigint },
): BalanceDisagreement | undefined {
  const reported = units.filter((each) => each !== undefined);
  const sufficient = reported.filter((each) => each >= countedUnits).length;
  const insufficient = reported.length - sufficient;
  if (sufficient >= needed && sufficient > insufficient) return undefined;
  if (reported.length < needed) return "provider_agreement_pending";
  return sufficient === 0 ? "balance_below_counted" : "provider_disagreement";
}

function formatReply(reply: ProviderReply<bigint[]>, index: number): string {
  return `${reply.provider}: ${"answer" in reply ? String(reply.answer[index]) : reply.error.message}`;
}
