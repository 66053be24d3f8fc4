import { addMs } from "../../kernel/clock.ts";
import { OutboundFailure, type Outbound } from "../../kernel/outbound/outbound.ts";
import type { World } from "../../world.ts";
import { signatureHeaders } from "../sign.ts";
import { delayNotice, deleteNotice, leaseNotices, type DueNotice } from "./noticeStore.ts";

type NoticeWorld = Pick<World, "db" | "clock" | "log"> & { outbound: Outbound };

/** The waits after the first and the second try: three tries within an hour. */
const WAITS_MS = [5 * 60_000, 50 * 60_000];
const LEASE_MS = 60_000;
const BATCH_MAX = 20;

/** Sends the notices that are due. They go another way than the endpoint that fails. */
export async function sendNotices(world: NoticeWorld): Promise<{ isDone: boolean }> {
  const at = world.clock.now();
  const notices = await leaseNotices(world.db, {
    at,
    until: addMs(at, LEASE_MS),
    limit: BATCH_MAX,
    waitMsMax: Math.max(...WAITS_MS),
  });
  await Promise.all(notices.map((notice) => sendNotice(world, notice)));
  return { isDone: notices.length < BATCH_MAX };
}

async function sendNotice(world: NoticeWorld, notice: DueNotice): Promise<void> {
  const { number, tries, account_id: account } = notice;
  const failure = await post(world, notice);
  if (failure === undefined) return deleteNotice(world.db, number);
  const waitMs = WAITS_MS[tries];
  world.log.warn({ account, reason: failure, tries: tries + 1 }, "notice to the account's URL failed");
  if (waitMs === undefined) return deleteNotice(world.db, number);
  await delayNotice(world.db, { number, tries: tries + 1, dueAt: addMs(world.clock.now(), waitMs) });
}

/** The reason of a failure. */
async function post(world: NoticeWorld, notice: DueNotice): Promise<string | undefined> {
  const { id, type, url, secret, message } = notice;
  const { account_id: accountId, webhook_endpoint_id: webhookEndpointId } = notice;
  const body = JSON.stringify({ type, accountId, webhookEndpointId, at: notice.at.toISOString(), message });
  const headers = {
    "content-type": "application/json",
    ...signatureHeaders({ id, at: world.clock.now(), body, secrets: [secret] }),
  };
  try {
    const { status } = await world.outbound.post({ account: accountId, url, headers, body, answerBytesMax: 0 });
    return status >= 200 && status < 300 ? undefined : `status ${status}`;
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error;
    return error.message;
  }
}
