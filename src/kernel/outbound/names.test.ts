import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test, type TestContext } from "node:test";
import { setImmediate } from "node:timers/promises";
import { NameServer, type NameAnswer } from "../../../test/support/nameServer.ts";
import { parseHosts } from "./hostsFile.ts";
import { openOutbound, type OutboundOptions } from "./outbound.ts";
import { nameResolver } from "./resolveName.ts";
import { SharedLookups } from "./sharedLookups.ts";

const noHosts = () => Promise.resolve([]);

async function openNames(t: TestContext, { answer, timeoutMs = 400 }: { answer: NameAnswer; timeoutMs?: number }) {
  const server = new NameServer(answer);
  t.after(() => server.close());
  const resolve = nameResolver({ servers: [await server.listen()], hosts: noHosts, timeoutMs });
  return { server, resolve };
}

async function openReceiver(
  t: TestContext,
  host = "127.0.0.1",
): Promise<{ port: number; server: Server; got: string[] }> {
  const got: string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    got.push(String(request.headers.host));
    response.writeHead(204).end();
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, host, resolve);
  await promise;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server, got };
}

function open(t: TestContext, options: Partial<OutboundOptions>) {
  const policy = { allowsHttp: true, allow: ["127.0.0.0/8"], deny: [] };
  const outbound = openOutbound({ policy, userAgent: "Tributary/test", ...options });
  t.after(() => outbound.close());
  return (url: string, account = "acct_one") =>
    outbound.post({ account, url, headers: {}, body: "{}", answerBytesMax: 0 });
}

test("names that no server answers for delay no other account, and end within the time of a lookup", async (t) => {
  const { resolve } = await openNames(t, {
    answer: (name) => (name.startsWith("slow") ? undefined : ["127.0.0.1"]),
    // Far longer than the others take on a busy machine.
    timeoutMs: 4_000,
  });
  const { port } = await openReceiver(t);
  const post = open(t, { resolve });
  const slow = Array.from({ length: 32 }, (_, index) => post(`http://slow${index % 4}.example:${port}/`, "acct_slow"));
  const ends = Promise.allSettled(slow);
  let isSlowOver = false;
  void ends.then(() => (isSlowOver = true));
  for (const name of ["one", "two", "three"])
    assert.equal((await post(`http://${name}.example:${port}/`, "acct_other")).status, 204);
  assert.equal(isSlowOver, false, "the others went first");
  for (const end of await ends) {
    assert.equal(end.status, "rejected");
    assert.match(String(end.reason), /no name server answered for slow\d.example in time/);
  }
});

test("an account looks up a few names at once, callers share a lookup, and a failure is kept briefly", async () => {
  const asked: string[] = [];
  let nowMs = 0;
  const open = new Map<string, PromiseWithResolvers<string[]>>();
  const resolve = (name: string) => {
    asked.push(name);
    const answer = Promise.withResolvers<string[]>();
    open.set(name, answer);
    return answer.promise;
  };
  const lookups = new SharedLookups(resolve, { monotonicMs: () => nowMs });
  const names = ["a", "b", "c", "d", "e", "a"];
  const results = names.map((name) => lookups.lookup(name, "acct_one"));
  const ends = Promise.allSettled(results);
  const other = lookups.lookup("of the other", "acct_two");
  assert.deepEqual(asked, ["a", "b", "c", "d", "of the other"]);
  open.get("of the other")?.resolve(["127.0.0.9"]);
  assert.deepEqual(await other, ["127.0.0.9"]);
  open.get("a")?.reject(new Error("gone"));
  await Promise.race(results).catch(() => undefined);
  await setImmediate();
  assert.equal(asked.at(-1), "e");
  for (const name of ["b", "c", "d", "e"]) open.get(name)?.resolve(["127.0.0.1"]);
  assert.deepEqual(
    (await ends).map(({ status }) => status),
    ["rejected", "fulfilled", "fulfilled", "fulfilled", "fulfilled", "rejected"],
  );
  await assert.rejects(lookups.lookup("a", "acct_two"), /gone/);
  assert.equal(asked.filter((name) => name === "a").length, 1);
  nowMs = 60_000;
  const again = lookups.lookup("a", "acct_two");
  open.get("a")?.resolve(["127.0.0.2"]);
  assert.deepEqual([await again, asked.filter((name) => name === "a").length], [["127.0.0.2"], 2]);
});

test("a name that leads to an address that is not public is refused, by the hosts file too", async (t) => {
  const { resolve } = await openNames(t, { answer: () => ["10.0.0.1", "127.0.0.1"] });
  await assert.rejects(
    open(t, { resolve })("http://mixed.example/"),
    /the name mixed\.example has an address that is not public/,
  );
  const hosts = parseHosts("# comment\n10.1.2.3 Shop.example shop # 1.1.1.1\n::1 shop.example\nnot an address\n");
  assert.deepEqual(hosts.get("shop.example"), ["10.1.2.3", "::1"]);
  const named = nameResolver({ hosts: async (name) => hosts.get(name) ?? [] });
  await assert.rejects(
    open(t, { resolve: named })("http://shop.example./"),
    /the name shop\.example\.? has an address that is not public/,
  );
});

test("the second address of a name is tried when the first does not connect", async (t) => {
  const { port, got } = await openReceiver(t, "127.0.0.3");
  const post = open(t, { resolve: async () => ["127.0.0.2", "127.0.0.3"] });
  assert.equal((await post(`http://two.example:${port}/`)).status, 204);
  assert.deepEqual(got, [`two.example:${port}`]);
  const none = open(t, { resolve: async () => ["127.0.0.2", "127.0.0.4"] });
  await assert.rejects(none(`http://none.example:${port}/`), /ECONNREFUSED 127\.0\.0\.4/);
});

test("requests that hang at a host delay no request of another account to the same host", async (t) => {
  const hanging: string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === "/hang") hanging.push(request.url);
    else response.writeHead(204).end();
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post = open(t, { timeoutMs: 5_000 });
  const hung = Promise.allSettled(Array.from({ length: 64 }, () => post(`${base}/hang`, "acct_hanging")));
  let isOver = false;
  void hung.then(() => (isOver = true));
  for (const account of ["acct_other", "acct_hanging"]) assert.equal((await post(`${base}/fine`, account)).status, 204);
  assert.equal(isOver, false);
  server.closeAllConnections();
  await hung;
});

test("a request that expired while it waited for a connection is never sent", async (t) => {
  const { port, got } = await openReceiver(t);
  const answers = Promise.withResolvers<string[]>();
  const post = open(t, { resolve: () => answers.promise, timeoutMs: 200 });
  await assert.rejects(post(`http://late.example:${port}/`), /no complete answer within 0.2 seconds/);
  answers.resolve(["127.0.0.1"]);
  // A further request needs a connection too, and is answered after the first one's connection stood.
  assert.equal((await post(`http://late.example:${port}/`)).status, 204);
  assert.equal(got.length, 1);
});
