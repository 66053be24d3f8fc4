import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startAnvil, type Anvil } from "../../../dev/chains/anvil.ts";
import { createDevClient, type DevClient } from "../../../dev/chains/devClient.ts";
import { systemClock } from "../../../kernel/clock.ts";
import { openWebSocketProxy, type WebSocketProxy } from "../../../../test/support/webSocketProxy.ts";
import { ProviderFailed, type BlockRef } from "../../reader.ts";
import { ChainMismatch } from "../../providers.ts";
import { openEvmNode } from "../rpcNode.ts";
import { openNewHeadsFeed, type NewHeadsFeedOptions } from "./newHeadsFeed.ts";

const CAIP2 = "eip155:900001";

describe("pushed heads", () => {
  let anvil: Anvil;
  let client: DevClient;
  let socketGate: WebSocketProxy;

  before(async () => {
    anvil = await startAnvil({ chainId: 900_001 });
    client = createDevClient(anvil.rpcUrl);
    socketGate = await openWebSocketProxy(anvil.rpcUrl);
  });
  after(async () => {
    await socketGate.close();
    await anvil.stop();
  });

  /** Follows a feed and returns its heads one by one. */
  function listen(
    options: Partial<NewHeadsFeedOptions> = {},
    highestKnown: () => bigint | undefined = () => undefined,
  ) {
    const feed = openNewHeadsFeed({ caip2: CAIP2, wsUrl: socketGate.url, clock: systemClock, ...options });
    const opened = Promise.withResolvers<void>();
    const heads: BlockRef[] = [];
    let arrived = Promise.withResolvers<void>();
    const onHead = (head: BlockRef) => {
      heads.push(head);
      arrived.resolve();
    };
    const ending = new AbortController();
    const ended = feed.follow({ onOpen: opened.resolve, onHead, highestKnown }, ending.signal);
    const next = async (): Promise<BlockRef> => {
      for (;;) {
        const head = heads.shift();
        if (head !== undefined) return head;
        arrived = Promise.withResolvers();
        await arrived.promise;
      }
    };
    const stop = () => {
      ending.abort();
      return ended;
    };
    return { opened: opened.promise, ended, next, stop };
  }

  test("each new block is pushed with its header", async () => {
    const { opened, next, stop } = listen();
    await opened;
    const node = openEvmNode({ caip2: CAIP2, rpcUrl: anvil.rpcUrl });
    for (let block = 0; block < 3; block += 1) {
      await client.mine({ blocks: 1 });
      const head = await next();
      deepEqual(head, await node.block({ hash: head.hash }));
      deepEqual(head, await node.head("latest"));
    }
    await node.close();
    equal(await stop(), "the service stops");
  });

  test("a lost connection ends, and the next one pushes again", async () => {
    const first = listen();
    await first.opened;
    socketGate.closeConnections();
    match(await first.ended, /connection/);
    const second = listen();
    await second.opened;
    await client.mine({ blocks: 1 });
    await second.next();
    await second.stop();
  });

  test("a silent connection ends", async () => {
    const { opened, ended } = listen({ idleMs: 20, timeoutMs: 200 });
    await opened;
    socketGate.dropAllFrames();
    equal(await ended, "it stopped answering");
    socketGate.forwardAllFrames();
  });

  test("a connection that answers but misses heads ends", async () => {
    const { opened, ended } = listen({ idleMs: 20 });
    await opened;
    socketGate.dropHeads();
    await client.mine({ blocks: 1 });
    equal(await ended, "it misses heads");
    socketGate.forwardAllFrames();
  });

  test("a connection that repeats one head ends", async () => {
    const { opened, ended, next } = listen({ idleMs: 50 });
    await opened;
    await client.mine({ blocks: 1 });
    const { hash } = await next();
    socketGate.repeatPreviousHead();
    const mining = new AbortController();
    void ended.then(() => mining.abort());
    while (!mining.signal.aborted) {
      await client.mine({ blocks: 1 });
      equal((await Promise.race([next(), ended.then(() => undefined)]))?.hash ?? hash, hash);
    }
    equal(await ended, "it misses heads");
    socketGate.forwardAllFrames();
  });

  test("a connection ends when its node stands still and others advance", async () => {
    const { opened, ended } = listen({ idleMs: 20 }, () => 1_000_000n);
    await opened;
    equal(await ended, "it misses heads");
  });

  test("a chain that stands still keeps its connection", async () => {
    let rounds = 0;
    const quietFor = Promise.withResolvers<void>();
    const sleep = (durationMs: number, signal?: AbortSignal) => {
      if (durationMs === 5 && (rounds += 1) === 5) quietFor.resolve();
      return systemClock.sleep(durationMs, signal);
    };
    const { opened, next, stop } = listen({ idleMs: 5, timeoutMs: 60_000, clock: { ...systemClock, sleep } });
    await opened;
    await quietFor.promise;
    await client.mine({ blocks: 1 });
    await next();
    equal(await stop(), "the service stops");
  });

  test("a provider that is unreachable or silent before the first head fails", async () => {
    await rejects(listen({ wsUrl: "ws://127.0.0.1:1" }).ended, (error) => error instanceof ProviderFailed);
    socketGate.dropAllFrames();
    await rejects(listen({ timeoutMs: 100 }).ended, (error) => error instanceof ProviderFailed);
    socketGate.forwardAllFrames();
  });

  test("pushes before the chain id is verified are ignored", async () => {
    const header = {
      number: "0x7",
      hash: `0x${"77".repeat(32)}`,
      parentHash: `0x${"66".repeat(32)}`,
      timestamp: "0x1",
    };
    socketGate.setGreeting({
      jsonrpc: "2.0",
      method: "eth_subscription",
      params: { subscription: "0x1", result: header },
    });
    const { opened, next, stop } = listen();
    await opened;
    socketGate.setGreeting(undefined);
    await client.mine({ blocks: 1 });
    ok((await next()).hash !== header.hash);
    equal(await stop(), "the service stops");
  });

  test("a websocket of another chain is refused", async () => {
    await rejects(
      listen({ caip2: "eip155:1" }).ended,
      (error) => error instanceof ChainMismatch && /serves eip155:900001/.test(error.message),
    );
  });

  test("a feed can be stopped at any time", async () => {
    socketGate.dropAllFrames();
    const opening = listen({ timeoutMs: 60_000 });
    equal(await opening.stop(), "the service stops");
    socketGate.forwardAllFrames();
    const signal = AbortSignal.abort();
    const feed = openNewHeadsFeed({ caip2: CAIP2, wsUrl: socketGate.url, clock: systemClock });
    equal(
      await feed.follow({ onOpen: () => {}, onHead: () => {}, highestKnown: () => undefined }, signal),
      "the service stops",
    );
  });
});
