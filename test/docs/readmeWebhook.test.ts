import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { Webhook } from "standardwebhooks";

// The README's webhook, as it stands there, answers requests that the library of Standard Webhooks has signed.

const README = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const SECRET = `whsec_${Buffer.from("thirty-two bytes of a secret !!!").toString("base64")}`;
const IMPORTS = `
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";`;

const sample = /```js\n(createServer\([\s\S]*?)```/.exec(README)?.[1] ?? "";
let url = "";

type Sent = { body: string; id: string; at: Date; secret: string };

function sign({ body, id, at, secret }: Sent): Record<string, string> {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": new Webhook(secret).sign(id, at, body),
  };
}

async function post(body: string, headers: Record<string, string>): Promise<number> {
  return (await fetch(url, { method: "POST", headers, body })).status;
}

/** Sends half of a body and closes the connection. */
async function leaveEarly(): Promise<void> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await once(socket, "connect");
  socket.write("POST /webhooks HTTP/1.1\r\nhost: shop\r\ncontent-length: 100\r\n\r\n{");
  socket.destroySoon();
  await once(socket, "close");
}

describe("the README's webhook", () => {
  let shop: ChildProcess;
  before(async () => {
    assert.match(sample, /\.listen\(3000\)/);
    const listening = sample.replace(
      ".listen(3000)",
      '.listen(0, "127.0.0.1", function () { console.log(this.address().port); })',
    );
    const child = spawn(process.execPath, ["--input-type=module"], {
      env: { PATH: process.env["PATH"], WEBHOOK_SECRET: SECRET },
      stdio: ["pipe", "pipe", "inherit"],
    });
    shop = child;
    child.stdin.end(`${IMPORTS}\n${listening}`);
    const [port] = (await once(child.stdout, "data")) as [Buffer];
    url = `http://127.0.0.1:${port.toString().trim()}/webhooks`;
  });
  after(() => shop.kill());

  test("it accepts what the service signs, and refuses everything else", async () => {
    const sent = { body: '{"type":"payment_intent.settled"}', id: "evt_1", at: new Date(), secret: SECRET };
    const headers = sign(sent);
    const other = `whsec_${Buffer.from("another secret of thirty-two bytes").toString("base64")}`;
    assert.equal(await post(sent.body, headers), 204);
    const rotated = `${sign({ ...sent, secret: other })["webhook-signature"]} ${headers["webhook-signature"]}`;
    assert.equal(
      await post(sent.body, { ...headers, "webhook-signature": rotated }),
      204,
      "two secrets while they rotate",
    );
    assert.equal(await post(`${sent.body} `, headers), 401, "another body");
    assert.equal(await post(sent.body, { ...headers, "webhook-id": "evt_2" }), 401, "another event");
    assert.equal(await post(sent.body, sign({ ...sent, secret: other })), 401, "another secret");
    assert.equal(
      await post(sent.body, sign({ ...sent, at: new Date(sent.at.getTime() - 600_000) })),
      401,
      "an old request",
    );
    assert.equal(await post(sent.body, {}), 401, "no headers");
    const sameLength = `v1,${"\u00e9".repeat(44)}`;
    assert.equal(
      await post(sent.body, { ...headers, "webhook-signature": sameLength }),
      401,
      "letters that are no base64",
    );
    await leaveEarly();
    assert.equal(await post(sent.body, headers), 204, "it still runs");
  });
});
