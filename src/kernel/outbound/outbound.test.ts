import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { isAddressAllowed, type AddressPolicy } from "./addressPolicy.ts";
import { openOutbound, OutboundFailure, type Outbound, type OutboundOptions } from "./outbound.ts";

const PUBLIC_ONLY: AddressPolicy = { allowsHttp: true, allow: [], deny: [] };
const LOOPBACK: AddressPolicy = { ...PUBLIC_ONLY, allow: ["127.0.0.0/8", "::1/128"] };

/** Spellings of addresses that lead to this machine, to its network, or to the metadata of a cloud. */
const HOSTILE_HOSTS = `
  127.0.0.1 127.1 127.0.1 127.255.255.254 2130706433 0x7f000001 0x7f.0.0.1 0x7f.1 017700000001 0177.0.0.1
  0177.1 127.0.0.1. １２７.０.０.１ 127。0。0。1 0 0.0.0.0 0x0 [::1] [0:0:0:0:0:0:0:1] [::] [::ffff:127.0.0.1]
  [::ffff:7f00:1] [0:0:0:0:0:ffff:7f00:1] [::127.0.0.1] [::7f00:1] [64:ff9b::127.0.0.1] [64:ff9b::7f00:1]
  [64:ff9b:1::7f00:1] [2002:7f00:1::] [2002:7f00:0001::1] [2001:0:7f00:1::] [2001::1] [2001:db8::1]
  [2001:10::1] 10.0.0.1 10.255.255.255 0xa.0.0.1 10.1 167772161 172.16.0.1 172.31.255.255 0xac100001
  192.168.0.1 192.168.1.255 192.168.257 3232235521 0300.0250.0.1 [::ffff:10.0.0.1] [::ffff:192.168.0.1]
  [::ffff:172.16.0.1] [64:ff9b::10.0.0.1] [64:ff9b::192.168.0.1] [2002:a00:1::] [2002:c0a8:1::] [fc00::1]
  [fd00::1] [fdff:ffff::1] [fec0::1] [fe80::1] [fe80::a9fe:a9fe] [febf::1] 169.254.0.1 169.254.169.254
  0xa9fea9fe 2852039166 169.254.43518 0251.0376.0251.0376 [::ffff:169.254.169.254] [::ffff:a9fe:a9fe]
  [64:ff9b::a9fe:a9fe] [2002:a9fe:a9fe::] [fd00:ec2::254] 168.63.129.16 0xa83f8110 [::ffff:168.63.129.16]
  100.100.100.200 100.64.0.1 100.127.255.255 192.0.0.192 192.0.0.1 192.0.2.1 198.51.100.1 203.0.113.1
  198.18.0.1 198.19.255.255 192.88.99.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 [ff02::1] [ff0e::1]
  localhost LOCALHOST localhost. foo.localhost [::ffff:0:127.0.0.1] [100::1] [5f00::1] [4000::1] 0x7F.0X0.0.1
  127.0x0.0.0x1 00000177.0.0.1 0x00000000007f000001 [0000:0000::0001] [::ffff:0a00:0001]
`
  .trim()
  .split(/\s+/);

/** A server that nobody may reach. */
class Canary {
  readonly sockets: Socket[] = [];
  readonly requests: string[] = [];
  readonly #server: Server;

  constructor(answer: { status: number; headers?: Record<string, string>; body?: string } = { status: 200 }) {
    this.#server = createServer((request, response) => {
      this.requests.push(request.url ?? "");
      request.resume();
      response.writeHead(answer.status, answer.headers);
      response.end(answer.body);
    });
    this.#server.on("connection", (socket) => this.sockets.push(socket));
  }

  async listen(): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.listen({ host: "::", port: 0, ipv6Only: false }, resolve);
    await promise;
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
  }
}

const post = (outbound: Outbound, url: string) =>
  outbound.post({ account: "acct_one", url, headers: {}, body: "{}", answerBytesMax: 2_048 });

type Options = Omit<OutboundOptions, "userAgent">;

async function open(t: { after(end: () => Promise<void>): void }, options: Options): Promise<Outbound> {
  const outbound = openOutbound({ userAgent: "Tributary/test", ...options });
  t.after(() => outbound.close());
  return outbound;
}

describe("D37 requests to the URLs of merchants", () => {
  const canary = new Canary();
  let port = 0;
  before(async () => {
    port = await canary.listen();
  });
  after(() => canary.close());

  test(`reach none of ${HOSTILE_HOSTS.length} spellings of addresses that are not public`, async (t) => {
    assert.ok(HOSTILE_HOSTS.length >= 100);
    const outbound = await open(t, { policy: PUBLIC_ONLY, timeoutMs: 2_000 });
    for (const host of HOSTILE_HOSTS)
      await assert.rejects(post(outbound, `http://${host}:${port}/`), OutboundFailure, host);
    assert.equal(canary.sockets.length, 0);
  });

  test("reach no name that resolves to such an address, also beside a public one or later", async (t) => {
    const answers = [
      ["127.0.0.1"],
      ["93.184.215.14", "127.0.0.1"],
      ["::1"],
      ["::ffff:127.0.0.1"],
      ["not an address"],
      [],
    ];
    let asked = 0;
    const resolve = async () => answers[asked++] ?? [];
    const outbound = await open(t, { policy: PUBLIC_ONLY, resolve, timeoutMs: 2_000 });
    for (const _ of answers) await assert.rejects(post(outbound, `http://shop.example:${port}/`), OutboundFailure);
    assert.equal(asked, answers.length, "the name is resolved for every connection");
    assert.equal(canary.sockets.length, 0);
  });

  test("check a name again after it led to an allowed address", async (t) => {
    const server = new Canary({ status: 200, headers: { connection: "close" } });
    t.after(() => server.close());
    const allowedPort = await server.listen();
    const answers = [["127.0.0.1"], ["127.0.0.2"]];
    const resolve = async () => answers.shift() ?? [];
    const policy = { ...PUBLIC_ONLY, allow: ["127.0.0.1/32"] };
    const outbound = await open(t, { policy, resolve });
    const url = `http://shop.example:${allowedPort}/`;
    assert.equal((await post(outbound, url)).status, 200);
    await assert.rejects(post(outbound, url), /the name shop\.example has an address that is not public/);
    assert.equal(server.requests.length, 1);
  });

  test("follow no redirect", async (t) => {
    const redirecting = new Canary({ status: 307, headers: { location: `http://127.0.0.1:${port}/` } });
    t.after(() => redirecting.close());
    const outbound = await open(t, { policy: LOOPBACK });
    assert.equal((await post(outbound, `http://127.0.0.1:${await redirecting.listen()}/`)).status, 307);
    assert.equal(canary.sockets.length, 0);
  });

  test("need https in live, and take no user name", async (t) => {
    const outbound = await open(t, { policy: { ...LOOPBACK, allowsHttp: false } });
    await assert.rejects(post(outbound, `http://127.0.0.1:${port}/`), /must begin with https/);
    await assert.rejects(post(outbound, `https://user:word@127.0.0.1:${port}/`), /user name/);
    for (const url of ["ftp://127.0.0.1/", "file:///etc/passwd", "/relative", ""])
      await assert.rejects(post(outbound, url), OutboundFailure);
    assert.equal(canary.sockets.length, 0);
  });
});

test("denied networks win, and networks of the operator's own are reached", () => {
  const policy = { ...PUBLIC_ONLY, allow: ["10.1.0.0/16", "fd00:7::/32"], deny: ["10.1.2.0/24", "93.184.0.0/16"] };
  const allowed = (address: string) => isAddressAllowed(policy, address);
  assert.deepEqual(["10.1.0.1", "fd00:7::1", "8.8.8.8", "2606:4700::1111"].map(allowed), [true, true, true, true]);
  assert.deepEqual(["10.1.2.3", "10.2.0.1", "93.184.215.14", "fd01::1", "::ffff:10.1.0.1"].map(allowed), [
    false,
    false,
    false,
    false,
    false,
  ]);
});

test("the status is the answer although the body is too long or never ends; a silent server is a failure", async (t) => {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url === "/silent") return;
    response.writeHead(200);
    if (request.url === "/long") for (let part = 0; part < 100; part += 1) response.write(Buffer.alloc(64 * 1024, 97));
    else response.write("beginning");
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const outbound = await open(t, { policy: LOOPBACK, timeoutMs: 300 });
  const long = await post(outbound, `${base}/long`);
  assert.deepEqual([long.status, long.answer.length], [200, 2_048]);
  const endless = await post(outbound, `${base}/endless`);
  assert.deepEqual([endless.status, Buffer.from(endless.answer).toString()], [200, "beginning"]);
  await assert.rejects(post(outbound, `${base}/silent`), /no complete answer within 0.3 seconds/);
});
