import { warnRepeated } from "../../../kernel/alarm/repeatedWarning.ts";
import {
  closeOutgoing,
  listExpiringOutgoing,
  markSubmitted,
  type ExpiringOutgoing,
} from "../../outgoing/outgoingStore.ts";
import type { SenderWorld } from "../../sender.ts";
import type { SolanaNode } from "../node.ts";
import type { SolanaSenderContext } from "./senderContext.ts";
import { broadcastTransaction, fetchFinalizedHeight, fetchStatuses, type TransactionStatus } from "./sendRequests.ts";

/** As many as providers take in one question for statuses. */
const OPEN_MAX = 256;
/** So many providers must not know a transaction before it counts as expired, where there are so many. */
const WITNESSES_MIN = 2;

type Found = { open: ExpiringOutgoing; status: TransactionStatus };

/**
 * Processes every open transaction of a cluster: broadcasts its bytes until a block includes them, and closes it when
 * that block is final, or when no later block can include them. Its settlements are then planned again.
 */
export async function processTransactions(world: SenderWorld, context: SolanaSenderContext): Promise<void> {
  const open = await listExpiringOutgoing(world.db, { chain: context.caip2, limit: OPEN_MAX });
  if (open.length === 0) return;
  const { found, unknown } = await findStatuses(context, open);
  const final = found.filter(({ status }) => status.isFinal);
  // A node that is stuck on a dead fork keeps a transaction in a block that is never final.
  const pending = open.filter((each) => !final.some((one) => one.open === each));
  const { foundLate, expired } = await lookForOverdue(context, pending);
  await closeFinal(world, context, [...final, ...foundLate]);
  const settled = new Set([...foundLate.map((each) => each.open), ...expired]);
  for (const each of expired) await closeExpired(world, context, each);
  // One that no provider has taken from this service is sent, whatever the first provider claims.
  const unsent = pending.filter((each) => each.submittedAt === null || unknown.includes(each));
  for (const each of unsent) if (!settled.has(each)) await broadcast(world, context, each);
}

async function findStatuses(
  { providers }: SolanaSenderContext,
  open: readonly ExpiringOutgoing[],
): Promise<{ found: Found[]; unknown: ExpiringOutgoing[] }> {
  const chainTxs = open.map(({ chainTx }) => chainTx);
  const statuses = await providers.run((node) => fetchStatuses(node, chainTxs));
  const found = open.flatMap((each, index) => toFound(each, statuses[index]));
  return { found, unknown: open.filter((_, index) => statuses[index] === undefined) };
}

function toFound(open: ExpiringOutgoing, status: TransactionStatus | undefined): Found[] {
  return status === undefined ? [] : [{ open, status }];
}

/**
 * `found`: what a provider has in a final block. Before that a fork may drop the transaction, and then the same bytes
 * are broadcast again.
 */
async function closeFinal(world: SenderWorld, context: SolanaSenderContext, found: readonly Found[]): Promise<void> {
  if (found.length === 0) return;
  const { number: finalSlot } = await context.providers.head("finalized");
  for (const { open, status } of found) {
    if (status.slot > finalSlot) continue;
    context.feeCeiling.expiredInRow = 0;
    await closeOutgoing(world.db, {
      id: open.id,
      status: status.succeeded ? "mined" : "reverted",
      chainTx: open.chainTx,
      blockNumber: status.slot,
      at: world.clock.now(),
    });
  }
}

type View = { height: bigint; statuses: readonly (TransactionStatus | undefined)[] };

/**
 * Asks every provider for the transactions whose last block has passed. `foundLate`: in a final block of one of them.
 * Expired are those that two providers, or the only one, do not have although their finalized block is past their last
 * one. Until then they may still land, so that others would pay fees for nothing. A provider that is not so far says
 * nothing about them.
 */
async function lookForOverdue(
  { providers }: SolanaSenderContext,
  pending: readonly ExpiringOutgoing[],
): Promise<{ foundLate: Found[]; expired: ExpiringOutgoing[] }> {
  const overdue = pending.length === 0 ? [] : await listOverdue(providers, pending);
  if (overdue.length === 0) return { foundLate: [], expired: [] };
  const chainTxs = overdue.map(({ chainTx }) => chainTx);
  const replies = await providers.runAll((node) => viewOf(node, chainTxs));
  const views = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
  const witnessesMin = Math.min(WITNESSES_MIN, providers.providerCount);
  const finalStatus = (index: number) => views.map(({ statuses }) => statuses[index]).find((each) => each?.isFinal);
  const isExpired = ({ lastValidHeight }: ExpiringOutgoing, index: number) => {
    const past = views.filter(({ height }) => height > lastValidHeight);
    return past.length >= witnessesMin && past.every(({ statuses }) => statuses[index] === undefined);
  };
  return {
    foundLate: overdue.flatMap((each, index) => toFound(each, finalStatus(index))),
    expired: overdue.filter((each, index) => finalStatus(index) === undefined && isExpired(each, index)),
  };
}

async function listOverdue(
  providers: SolanaSenderContext["providers"],
  pending: readonly ExpiringOutgoing[],
): Promise<ExpiringOutgoing[]> {
  // Of all providers: the first one may be stuck. One that claims a height too many costs one more question.
  const replies = await providers.runAll(fetchFinalizedHeight, "available");
  const heights = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
  return pending.filter(({ lastValidHeight }) => heights.some((height) => height > lastValidHeight));
}

/** The height first: whatever a block up to it included is known to the second question. */
async function viewOf(node: SolanaNode, chainTxs: readonly string[]): Promise<View> {
  const height = await fetchFinalizedHeight(node);
  return { height, statuses: await fetchStatuses(node, chainTxs) };
}

async function closeExpired(
  { db, clock, log }: SenderWorld,
  { caip2, feeCeiling }: SolanaSenderContext,
  { id, chainTx }: ExpiringOutgoing,
): Promise<void> {
  feeCeiling.expiredInRow += 1;
  log.warn({ chain: caip2, chainTx }, "a transaction expired before a block included it; its settlements are retried");
  await closeOutgoing(db, { id, status: "lost", at: clock.now() });
}

/** To every provider: the one that took the bytes may have dropped them. */
async function broadcast(
  world: SenderWorld,
  { caip2, providers }: SolanaSenderContext,
  { chainTx, raw }: ExpiringOutgoing,
): Promise<void> {
  const replies = await providers.runAll((node) => broadcastTransaction(node, raw), "available");
  const failures = replies.flatMap((each) => ("error" in each ? [each.error] : []));
  if (failures.length < replies.length) return markSubmitted(world.db, { chainTx, at: world.clock.now() });
  warnRepeated(world, {
    key: `broadcast ${caip2}`,
    fields: { chain: caip2, chainTx, err: failures[0] },
    message: "broadcast was not accepted; it is repeated later",
  });
}
