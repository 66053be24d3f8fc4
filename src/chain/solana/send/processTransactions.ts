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
 * Processes every open transaction of a cluster: broadcasts its bytes until a block includes them, and closes it when that block is final, or when
 * no later block can include them. Its settlements are then planned again.
 */
export async function processTransactions(world: SenderWorld, context: SolanaSenderContext): Promise<void> {
  const open = await listExpiringOutgoing(world.db, { chain: context.caip2, limit: OPEN_MAX });
  if (open.length === 0) return;
  const { found, unknown } = await findStatuses(context, open);
  const { foundLate, expired } = await lookForOverdue(context, unknown);
  await closeFinal(world, context, [...found, ...foundLate]);
  const settled = new Set([...foundLate.map((each) => each.open), ...expired]);
  for (const each of expired) await closeExpired(world, context, each);
  for (const each of unknown) if (!settled.has(each)) await broadcast(world, context, each);
}

async function findStatuses(
  { providers }: SolanaSenderContext,
  open: readonly ExpiringOutgoing[],
): Promise<{ found: Found[]; unknown: ExpiringOutgoing[] }> {
  const chainTxs = open.map(({ chainTx }) => chainTx);
  const statuses = await providers.ask((node) => fetchStatuses(node, chainTxs));
  const found = open.flatMap((each, index) => toFound(each, statuses[index]));
  return { found, unknown: open.filter((_, index) => statuses[index] === undefined) };
}

function toFound(open: ExpiringOutgoing, status: TransactionStatus | undefined): Found[] {
  return status === undefined ? [] : [{ open, status }];
}

/** Before finality a fork may drop the transaction, and then the same bytes are broadcast again. */
async function closeFinal(world: SenderWorld, context: SolanaSenderContext, found: readonly Found[]): Promise<void> {
  const included = found.filter(({ status }) => status.isFinal);
  if (included.length === 0) return;
  const { number: finalSlot } = await context.providers.head("finalized");
  for (const { open, status } of included) {
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
 * Asks every provider for the transactions whose last block has passed. Expired are those that no provider knows, where the finalized block is
 * past their last one at two providers, or the only one. Until then they may still land, so that others would pay fees for nothing.
 */
async function lookForOverdue(
  { providers }: SolanaSenderContext,
  unknown: readonly ExpiringOutgoing[],
): Promise<{ foundLate: Found[]; expired: ExpiringOutgoing[] }> {
  const overdue = unknown.length === 0 ? [] : await listOverdue(providers, unknown);
  if (overdue.length === 0) return { foundLate: [], expired: [] };
  const chainTxs = overdue.map(({ chainTx }) => chainTx);
  const replies = await providers.askEach((node) => viewOf(node, chainTxs));
  const views = replies.flatMap((each) => ("answer" in each ? [each.answer] : []));
  const witnessesMin = Math.min(WITNESSES_MIN, providers.providerCount);
  const statusOf = (index: number) =>
    views.map(({ statuses }) => statuses[index]).find((status) => status !== undefined);
  const isPast = ({ lastValidHeight }: ExpiringOutgoing) =>
    views.filter(({ height }) => height > lastValidHeight).length >= witnessesMin;
  return {
    foundLate: overdue.flatMap((each, index) => toFound(each, statusOf(index))),
    expired: overdue.filter((each, index) => statusOf(index) === undefined && isPast(each)),
  };
}

async function listOverdue(
  providers: SolanaSenderContext["providers"],
  unknown: readonly ExpiringOutgoing[],
): Promise<ExpiringOutgoing[]> {
  const height = await providers.ask(fetchFinalizedHeight);
  return unknown.filter(({ lastValidHeight }) => height > lastValidHeight);
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
  const replies = await providers.askEach((node) => broadcastTransaction(node, raw), "awake");
  const failures = replies.flatMap((each) => ("error" in each ? [each.error] : []));
  if (failures.length < replies.length) return markSubmitted(world.db, { chainTx, at: world.clock.now() });
  warnRepeated(world, {
    key: `broadcast ${caip2}`,
    fields: { chain: caip2, chainTx, err: failures[0] },
    message: "broadcast was not accepted; it is repeated later",
  });
}
