import type { Outbound } from "../../kernel/outbound/outbound.ts";
import { WebhookDeliverer } from "../../webhook/deliver.ts";
import { fanOut } from "../../webhook/fanOut.ts";
import { sendNotices } from "../../webhook/notice/sendNotices.ts";
import type { World } from "../../world.ts";
import type { Loop } from "../loop.ts";

/** Other processes write deliveries that become due here, so each looks as often as this. */
const DELIVER_MS = 200;
const FAN_OUT_MS = 200;
const NOTICES_MS = 10_000;

/** The loops of webhooks, where requests may go out. */
export function webhookLoops(world: World, outbound: Outbound): Loop[] {
  const sending = { ...world, outbound };
  const deliverer = new WebhookDeliverer(sending);
  return [
    {
      name: "webhook events",
      topic: "webhook events",
      intervalMs: FAN_OUT_MS,
      tick: async () => !(await fanOut(world)).isDone,
    },
    {
      name: "webhooks",
      topic: "webhooks",
      intervalMs: 0,
      tick: async (ending = new AbortController().signal) => {
        const hasMore = await deliverer.start(ending);
        if (!hasMore) await world.wake.wait("webhooks", { timeoutMs: DELIVER_MS, signal: ending });
        if (ending.aborted) await deliverer.drain();
        return true;
      },
    },
    {
      name: "webhook notices",
      topic: "webhook notices",
      intervalMs: NOTICES_MS,
      tick: async () => !(await sendNotices(sending)).isDone,
    },
  ];
}
