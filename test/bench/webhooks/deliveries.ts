import { createEndpoint } from "../../../src/webhook/endpoint/manageEndpoints.ts";
import { signatureHeaders } from "../../../src/webhook/sign.ts";
import { insertAccountWithIntents } from "../../support/webhooks.ts";
import { percentile } from "../detect/statistics.ts";
import { secondsOf, until, type BenchWorld, type Figure, type Sizes } from "./benchWorld.ts";

const CONCURRENT = 16;
const BODY = JSON.stringify({ id: "evt_1", sequence: 1, data: { object: { padding: "x".repeat(1_500) } } });
const SECRET = new Uint8Array(32).fill(7);
const CHANGES_PER_COMMIT = 500;
/** Between two events whose delay is measured. */
const PAUSE_MS = 10;

/** Posts by the way that webhooks go, with their signature and without. */
export async function benchSigning(world: BenchWorld, { requests }: Sizes): Promise<Figure[]> {
  const { url } = await world.openReceiver();
  const { outbound, clock } = world.webhooks.world;
  const post = async (isSigned: boolean) => {
    const signed = isSigned ? signatureHeaders({ id: "evt_1", at: clock.now(), body: BODY, secrets: [SECRET] }) : {};
    const headers = { "content-type": "application/json", ...signed };
    await outbound.post({ account: "acct_1", url, headers, body: BODY, answerBytesMax: 2_048 });
  };
  const rate = async (isSigned: boolean) =>
    requests / (await secondsOf(() => inParallel(requests, () => post(isSigned))));
  await rate(false);
  const [bare, ours] = [await rate(false), await rate(true)];
  return [{ what: "signed requests", ours, bare, unit: "a second unsigned", target: 0.8, isAtLeast: true }];
}

/** From the commit of a change until its receiver has the request; the bare loop posts right after the commit. */
export async function benchDelay(world: BenchWorld, { events }: Sizes): Promise<Figure[]> {
  const shop = await openShop(world);
  const bare = await measureDelays(world, { events, shop, isBare: true });
  await createEndpoint(world.webhooks.world, { accountId: shop.accountId, input: { url: shop.url } });
  world.runLoops();
  const ours = await measureDelays(world, { events, shop, isBare: false });
  const unit = "ms by a bare loop";
  return [0.5, 0.99].map((share) => ({
    what: `commit → first byte, p${share * 100}`,
    ours: percentile(ours, share),
    bare: percentile(bare, share),
    unit,
    target: 2,
    isAtLeast: false,
  }));
}

/** The same, alone and beside endpoints that never answer. */
export async function benchHanging(world: BenchWorld, { events, hanging }: Sizes): Promise<Figure[]> {
  const shop = await openShop(world);
  await createEndpoint(world.webhooks.world, { accountId: shop.accountId, input: { url: shop.url } });
  world.runLoops();
  const alone = await measureDelays(world, { events, shop, isBare: false });
  const { receiver, url } = await world.openReceiver();
  receiver.behave = () => undefined;
  for (let count = 0; count < hanging; count += 1) {
    const { accountId } = await insertAccountWithIntents(world.db, 0);
    await createEndpoint(world.webhooks.world, { accountId, input: { url: `${url}/${count}` } });
    await world.webhooks.appendChanges(accountId, [{ intentNumber: null, label: "hangs" }]);
  }
  await until(() => receiver.received.length >= hanging);
  const ours = await measureDelays(world, { events, shop, isBare: false });
  const [p99, bare] = [percentile(ours, 0.99), percentile(alone, 0.99)];
  const what = `p99 beside ${hanging} hanging endpoints`;
  return [{ what, ours: p99, bare, unit: "ms alone", target: 2, isAtLeast: false }];
}

/** How fast a backlog is delivered, beside as many events at once as an idle service gets. */
export async function benchBacklog(world: BenchWorld, { backlog }: Sizes): Promise<Figure[]> {
  const idle = Math.min(5_000, backlog);
  const shop = await openShop(world);
  await createEndpoint(world.webhooks.world, { accountId: shop.accountId, input: { url: shop.url } });
  world.runLoops();
  const deliver = async (count: number) => {
    const before = shop.received();
    await append(world, shop.accountId, count);
    return count / (await secondsOf(() => until(() => shop.received() - before >= count)));
  };
  await deliver(Math.min(500, idle));
  const bare = await deliver(idle);
  const ours = await deliver(backlog);
  const what = `a backlog of ${backlog}`;
  return [{ what, ours, bare, unit: `a second of ${idle}`, target: 0.7, isAtLeast: true }];
}

async function append(world: BenchWorld, accountId: string, count: number): Promise<void> {
  for (let start = 0; start < count; start += CHANGES_PER_COMMIT) {
    const changes = Array.from({ length: Math.min(CHANGES_PER_COMMIT, count - start) }, (_, index) => ({
      intentNumber: null,
      label: String(start + index),
    }));
    await world.webhooks.appendChanges(accountId, changes);
  }
}

type Shop = { accountId: string; url: string; received(): number; onReceived(id: string, note: () => void): void };

async function openShop(world: BenchWorld): Promise<Shop> {
  const { accountId } = await insertAccountWithIntents(world.db, 0);
  const { receiver, url } = await world.openReceiver();
  const waiting = new Map<string, () => void>();
  receiver.behave = ({ data }) => {
    waiting.get(String(Reflect.get(data.object, "label")))?.();
    return 204;
  };
  return {
    accountId,
    url,
    received: () => receiver.received.length,
    onReceived: (label, note) => void waiting.set(label, note),
  };
}

async function measureDelays(
  world: BenchWorld,
  { events, shop, isBare }: { events: number; shop: Shop; isBare: boolean },
): Promise<number[]> {
  const delays: number[] = [];
  const { outbound } = world.webhooks.world;
  for (let index = 0; index < events; index += 1) {
    const label = `${isBare ? "bare" : "ours"} ${index} ${delays.length}`;
    const arrived = Promise.withResolvers<number>();
    shop.onReceived(label, () => arrived.resolve(performance.now()));
    await world.webhooks.appendChanges(shop.accountId, [{ intentNumber: null, label }]);
    const committedMs = performance.now();
    if (!isBare) world.webhooks.world.wake.notify("events");
    else {
      const body = JSON.stringify({ id: "evt", sequence: 0, data: { object: { label } } });
      const headers = { "content-type": "application/json" };
      await outbound.post({ account: shop.accountId, url: shop.url, headers, body, answerBytesMax: 2_048 });
    }
    delays.push((await arrived.promise) - committedMs);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return delays;
}

async function inParallel(count: number, work: () => Promise<void>): Promise<void> {
  let left = count;
  const lane = async () => {
    while ((left -= 1) >= 0) await work();
  };
  await Promise.all(Array.from({ length: CONCURRENT }, lane));
}
