import assert from "node:assert/strict";
import { generateKeyPairSync, sign as signBytes } from "node:crypto";
import { before, describe, test } from "node:test";
import { encodeKey } from "@tributary/inbox/solana/keys";
import { sql } from "kysely";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { addMember } from "../../src/dashboard/members.ts";
import { applyDueChanges, proposePayoutChange } from "../../src/dashboard/payoutChange.ts";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { MANAGE_DASHBOARD, READ_DASHBOARD, CREATE_INTENTS, READ_EVENTS } from "../../src/merchant/keys/scopes.ts";
import { listenTestApi, testApi, type Merchant, type TestApi, type TestResponse } from "../support/api.ts";
import { assertAccessible } from "../support/axe.ts";
import { skipWithoutChromium } from "../support/browser.ts";
import { cookieOf, FORM, formToken, openPages } from "../support/dashboard.ts";
import { updateAccount } from "../../src/merchant/updateAccount.ts";
import { SETTLE_CHAIN_ID } from "../support/api.ts";
import { sharedBrowser } from "../support/sharedBrowser.ts";

const HOUR_MS = 3_600_000;
const SCOPES = [CREATE_INTENTS, READ_EVENTS, READ_DASHBOARD, MANAGE_DASHBOARD];

type Wallet = { address: string; sign: (text: string) => Promise<string> };

function evmWallet(): Wallet {
  const account = privateKeyToAccount(generatePrivateKey());
  return { address: account.address, sign: (message) => account.signMessage({ message }) };
}

function solanaWallet(): Wallet {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const bytes = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
  const sign = async (text: string) => signBytes(null, Buffer.from(text), privateKey).toString("hex");
  return { address: encodeKey(new Uint8Array(bytes)), sign };
}

let network = 0;

/** A request from a network of its own. */
function post(api: TestApi, path: string, { cookie = "", ...fields }: Record<string, string>): Promise<TestResponse> {
  network += 1;
  const remoteAddress = `10.2.${network >> 8}.${network & 255}`;
  const body = new URLSearchParams(fields).toString();
  return api.send(`/dashboard${path}`, { method: "POST", headers: { ...FORM, cookie }, body, remoteAddress });
}

async function challenge(api: TestApi, { address }: Wallet): Promise<{ nonce: string; text: string }> {
  const answered = await post(api, "/sign-in/challenge", { wallet: address });
  assert.equal(answered.status, 200, answered.text);
  return answered.body as { nonce: string; text: string };
}

async function signIn(api: TestApi, wallet: Wallet): Promise<TestResponse> {
  const { nonce, text } = await challenge(api, wallet);
  return post(api, "/sign-in/wallet", { nonce, signature: await wallet.sign(text) });
}

/** A signed-in member, whose forms carry his token. */
async function openMember(
  api: TestApi,
  accountId: string,
  { role, wallet = evmWallet() }: { role: string; wallet?: Wallet },
) {
  const { id } = await addMember(api.world, { accountId, wallet: wallet.address, role }, "operator");
  const cookie = cookieOf(await signIn(api, wallet));
  const get = (path: string) => api.send(`/dashboard${path}`, { headers: { cookie } });
  const token = formToken(await get(""));
  const send = (path: string, fields: Record<string, string> = {}) => post(api, path, { token, cookie, ...fields });
  return { id, wallet, cookie, get, send };
}

describe("the team of an account", () => {
  let api: TestApi;
  let merchant: Merchant;
  before(async () => {
    api = await testApi();
    merchant = await api.openMerchant({ scopes: SCOPES });
  });

  test("a member signs in by a wallet of either kind, once for each text, and nobody else does", async () => {
    for (const wallet of [evmWallet(), solanaWallet()]) {
      const stranger = await signIn(api, wallet);
      assert.equal(stranger.status, 401, "not yet a member");
      const member = await openMember(api, merchant.accountId, { role: "reader", wallet: wallet });
      const page = await member.get("");
      assert.equal(page.status, 200);
      assert.match(page.text, /Signed in by the wallet [^]*reader/);

      const { nonce, text } = await challenge(api, wallet);
      assert.ok(text.includes(new URL(api.world.config.baseUrl).host) && text.includes(nonce), "it names this service");
      const other = wallet.address.startsWith("0x") ? evmWallet() : solanaWallet();
      assert.equal((await post(api, "/sign-in/wallet", { nonce, signature: await other.sign(text) })).status, 401);
      assert.equal(
        (await post(api, "/sign-in/wallet", { nonce, signature: await wallet.sign(text) })).status,
        401,
        "used up",
      );
      const late = await challenge(api, wallet);
      api.advanceTime(10 * 60_000);
      assert.equal(
        (await post(api, "/sign-in/wallet", { nonce: late.nonce, signature: await wallet.sign(late.text) })).status,
        401,
      );
      const again = await challenge(api, wallet);
      const signature = await wallet.sign(again.text);
      const both = await Promise.all([1, 2].map(() => post(api, "/sign-in/wallet", { nonce: again.nonce, signature })));
      assert.deepEqual(
        both.map(({ status }) => status).toSorted((one, other) => one - other),
        [303, 401],
        "of two at once, one",
      );
      for (const bad of ["", "0x", "zz", signature.slice(2)])
        assert.equal((await post(api, "/sign-in/wallet", { nonce: "ab", signature: bad })).status, 401);
    }
    assert.equal((await post(api, "/sign-in/challenge", { wallet: "0x12" })).status, 400);
  });

  test("roles allow what they say, and a removed member is out at once", async () => {
    const { accountId } = await api.openMerchant({ scopes: SCOPES });
    const owner = await openMember(api, accountId, { role: "owner" });
    const developer = await openMember(api, accountId, { role: "developer" });
    const reader = await openMember(api, accountId, { role: "reader", wallet: solanaWallet() });
    const addition = { wallet: evmWallet().address, role: "reader", name: "Ada" };
    assert.equal((await developer.send("/team", addition)).status, 403);
    assert.equal((await reader.send("/keys", { scope: READ_DASHBOARD })).status, 403);
    assert.equal((await reader.send("/webhooks", { url: "https://shop.example/h", types: "*" })).status, 403);
    assert.equal((await reader.send("/payout", {})).status, 403);
    const made = await developer.send("/keys", { scope: READ_DASHBOARD });
    const apiKey = /trib_test_\w+/.exec(made.text)?.[0] ?? "";
    const byKey = await openPages(api, { ...merchant, apiKey });
    assert.equal((await byKey.get("/dashboard/keys")).status, 200, "the new key signs in");
    const keyId = apiKey.split("_")[2] ?? "";
    assert.equal((await owner.send("/keys/revoke", { keyId })).status, 303);
    assert.equal((await byKey.get("/dashboard/keys")).status, 401, "and is revoked");
    const foreignKey = merchant.apiKey.split("_")[2] ?? "";
    assert.equal((await owner.send("/keys/revoke", { keyId: foreignKey })).status, 404, "another account's key");

    assert.equal((await owner.send("/team", addition)).status, 303);
    assert.match((await owner.send("/team", addition)).text, /wallet must be one that is not a member yet/);
    assert.match((await owner.send("/team/remove", { memberId: owner.id })).text, /only owner/);
    assert.match((await owner.send("/team/role", { memberId: owner.id, role: "reader" })).text, /only owner/);
    assert.equal((await owner.send("/team/role", { memberId: developer.id, role: "owner" })).status, 303);
    const removals = await Promise.all([
      owner.send("/team/remove", { memberId: developer.id }),
      developer.send("/team/remove", { memberId: owner.id }),
    ]);
    assert.equal(
      removals.filter(({ status }) => status === 303).length,
      1,
      "of two owners who remove each other one stays",
    );
    assert.equal((await reader.get("/team")).status, 200);
    const left = removals[0]?.status === 303 ? owner : developer;
    assert.equal((await left.send("/team/remove", { memberId: reader.id })).status, 303);
    assert.equal((await reader.get("/team")).status, 401);
    const log = (await left.get("/audit")).text;
    for (const text of ["member.added", "member.removed", "key.created", "key.revoked", `member ${owner.id}`])
      assert.ok(log.includes(text), text);
    await assert.rejects(
      sql`update audit_entry set actor = 'nobody'`.execute(api.world.db.root),
      /an entry of the audit log is permanent/,
    );
    await assert.rejects(sql`delete from audit_entry`.execute(api.world.db.root), /permanent/);
  });

  test("a payout changes when its wallet has signed and the wait is over, for new payments only", async () => {
    const present = evmWallet();
    const next = evmWallet();
    const own = await api.openMerchant({ scopes: SCOPES });
    const { accountId } = own;
    const payout = { namespace: "eip155", chainReference: String(SETTLE_CHAIN_ID), currency: "USDC" } as const;
    await updateAccount(api.world, { accountId, change: { payout: { ...payout, wallet: present.address } } });
    api.world.config.payoutChangeDelayHours = 48;
    const owner = await openMember(api, accountId, { role: "owner" });
    const reader = await openMember(api, accountId, { role: "reader" });
    const before = await own.createIntent({ priceUnits: 1_000_000 });
    const coin = `eip155:${SETTLE_CHAIN_ID} USDC`;
    const propose = () => owner.send("/payout", { coin, wallet: next.address });
    const proposals = await Promise.all([propose(), propose()]);
    assert.deepEqual(
      proposals.map(({ status }) => status).toSorted((one, other) => one - other),
      [303, 400],
      "of two at once, one",
    );
    const open = async () => {
      const page = (await owner.get("/payout")).text;
      const text = /<pre[^>]*id="text-to-sign"[^>]*>([^<]*)</.exec(page)?.[1] ?? "";
      return { changeId: /name="changeId" value="([^"]+)"/.exec(page)?.[1] ?? "", text, page };
    };
    const first = await open();
    assert.ok(first.text.includes(next.address) && first.text.includes(first.changeId), "the text says what changes");
    const signWith = async (wallet: Wallet, { changeId, text }: { changeId: string; text: string }) =>
      owner.send("/payout/sign", { changeId, signature: await wallet.sign(text) });
    assert.equal((await signWith(owner.wallet, first)).status, 400, "an owner's wallet is not the payout wallet");
    assert.equal((await signWith(next, first)).status, 400);
    api.advanceTime(72 * HOUR_MS);
    assert.equal(await applyDueChanges(api.world), 0, "without the signature nothing happens");

    const again = await openMemberAgain(api, owner.wallet);
    const signed = await again.send("/payout/sign", {
      changeId: first.changeId,
      signature: await present.sign(first.text),
    });
    assert.equal(signed.status, 303, signed.text);
    api.advanceTime(HOUR_MS);
    assert.equal(await applyDueChanges(api.world), 0);
    const stopper = await openMemberAgain(api, reader.wallet);
    assert.equal((await stopper.send("/payout/stop", { changeId: first.changeId })).status, 303, "any member stops it");
    api.advanceTime(72 * HOUR_MS);
    assert.equal(await applyDueChanges(api.world), 0);
    assert.equal((await own.createIntent({ priceUnits: 1_000_000 })).inboxTerms.payout, present.address);

    const later = await openMemberAgain(api, owner.wallet);
    assert.equal((await later.send("/payout", { coin, wallet: next.address })).status, 303);
    const page = (await later.get("/payout")).text;
    const changeId = /name="changeId" value="([^"]+)"/.exec(page)?.[1] ?? "";
    const text = /<pre[^>]*id="text-to-sign"[^>]*>([^<]*)</.exec(page)?.[1] ?? "";
    assert.equal(
      (await later.send("/payout/sign", { changeId, signature: await present.sign(first.text) })).status,
      400,
      "the text of another proposal",
    );
    assert.equal((await later.send("/payout/sign", { changeId, signature: await present.sign(text) })).status, 303);
    api.advanceTime(48 * HOUR_MS);
    assert.equal(await applyDueChanges(api.world), 1);
    assert.equal((await own.createIntent({ priceUnits: 1_000_000 })).inboxTerms.payout, next.address);
    assert.equal(
      (await own.get(`/api/v1/intents/${before.intentId}`)).body.inboxTerms.payout,
      present.address,
      "it keeps its payout",
    );
    await assignEventSequences(api.world);
    const types = ((await own.get("/api/v1/events")).body.data as { type: string }[]).map(({ type }) => type);
    assert.deepEqual(
      types.filter((type) => type.startsWith("account.")),
      [
        "account.updated",
        "account.payout_change_proposed",
        "account.payout_change_confirmed",
        "account.payout_change_stopped",
        "account.payout_change_proposed",
        "account.payout_change_confirmed",
        "account.updated",
      ],
    );
  });

  test("a stolen key and a stolen session change no payout", async () => {
    const own = await api.openMerchant({ scopes: SCOPES });
    const pages = await openPages(api, own);
    const token = formToken(await pages.get("/dashboard"));
    const thief = evmWallet();
    const coin = `eip155:${SETTLE_CHAIN_ID} USDC`;
    for (const path of [
      "/payout",
      "/payout/sign",
      "/payout/stop",
      "/team",
      "/team/role",
      "/team/remove",
      "/keys",
      "/keys/revoke",
    ]) {
      const fields = { token, coin, wallet: thief.address, role: "owner", scope: CREATE_INTENTS };
      assert.equal((await post(api, path, { ...fields, cookie: pages.cookie })).status, 403, path);
    }
    api.world.config.payoutChangeDelayHours = 48;
    const owner = await openMember(api, own.accountId, { role: "owner" });
    await owner.send("/payout", { coin, wallet: thief.address });
    const page = (await owner.get("/payout")).text;
    const changeId = /name="changeId" value="([^"]+)"/.exec(page)?.[1] ?? "";
    const text = /<pre[^>]*id="text-to-sign"[^>]*>([^<]*)</.exec(page)?.[1] ?? "";
    assert.equal((await owner.send("/payout/sign", { changeId, signature: await thief.sign(text) })).status, 400);
    api.advanceTime(100 * HOUR_MS);
    await applyDueChanges(api.world);
    const created = await own.createIntent({ priceUnits: 1_000_000 });
    assert.equal(created.inboxTerms.payout.toLowerCase(), own.wallet);
    const foreign = await openMember(api, (await api.openMerchant({ scopes: SCOPES })).accountId, { role: "owner" });
    assert.equal((await foreign.send("/payout/stop", { changeId })).status, 404, "another account's change");
  });

  test("the operator's change waits too, needs no signature, and is stopped by a member", async () => {
    const own = await api.openMerchant({ scopes: SCOPES });
    api.world.config.payoutChangeDelayHours = 48;
    const next = evmWallet();
    const payout = {
      namespace: "eip155",
      chainReference: String(SETTLE_CHAIN_ID),
      currency: "USDC",
      wallet: next.address,
    } as const;
    const row = await proposePayoutChange(api.world, { accountId: own.accountId, change: { payout } }, "operator");
    assert.equal(row.status, "waiting");
    const reader = await openMember(api, own.accountId, { role: "reader" });
    assert.equal((await reader.send("/payout/stop", { changeId: row.id })).status, 303);
    api.advanceTime(72 * HOUR_MS);
    assert.equal(await applyDueChanges(api.world), 0);
  });

  test("wallets of the browser sign in and sign a change", { skip: skipWithoutChromium }, async () => {
    const own = await api.openMerchant({ scopes: SCOPES });
    const wallet = evmWallet();
    const payout = { namespace: "eip155", chainReference: String(SETTLE_CHAIN_ID), currency: "USDC" } as const;
    const { accountId } = own;
    await updateAccount(api.world, { accountId, change: { payout: { ...payout, wallet: wallet.address } } });
    await addMember(api.world, { accountId, wallet: wallet.address, role: "owner", name: "Ada" }, "operator");
    const origin = `http://127.0.0.1:${await listenTestApi(api)}`;
    const context = await (
      await sharedBrowser()
    ).newContext({ bypassCSP: true, viewport: { width: 390, height: 800 } });
    try {
      const page = await context.newPage();
      await page.exposeFunction("signText", (hex: string) =>
        wallet.sign(Buffer.from(hex.slice(2), "hex").toString("utf8")),
      );
      await page.addInitScript(
        ({ address }) => {
          const provider = {
            request: async ({ method, params }: { method: string; params?: unknown[] }) =>
              method === "eth_requestAccounts"
                ? [address]
                : (window as unknown as { signText: (hex: unknown) => Promise<string> }).signText(params?.[0]),
          };
          const detail = { info: { uuid: "1", name: "Test Wallet", icon: "", rdns: "x" }, provider };
          addEventListener("eip6963:requestProvider", () =>
            dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })),
          );
        },
        { address: wallet.address },
      );
      await page.goto(`${origin}/dashboard`);
      await assertAccessible(page);
      await page.getByRole("button", { name: "Test Wallet" }).click();
      await page.getByRole("heading", { name: "Payments", level: 1 }).waitFor();
      for (const path of ["team", "keys", "audit", "payout"]) {
        await page.goto(`${origin}/dashboard/${path}`);
        await assertAccessible(page);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, path);
      }
      await page.getByLabel("New payout wallet").fill(evmWallet().address);
      await page.getByRole("button", { name: "Propose a change" }).click();
      await page.getByRole("button", { name: "Test Wallet" }).click();
      await page.getByText("unless it is stopped").waitFor();
      await page.getByText("waiting").waitFor();
      await assertAccessible(page);
    } finally {
      await context.close();
    }
  });
});

/** The same member in a new session. */
async function openMemberAgain(api: TestApi, wallet: Wallet) {
  const cookie = cookieOf(await signIn(api, wallet));
  const get = (path: string) => api.send(`/dashboard${path}`, { headers: { cookie } });
  const token = formToken(await get(""));
  const send = (path: string, fields: Record<string, string> = {}) => post(api, path, { token, cookie, ...fields });
  return { get, send };
}
