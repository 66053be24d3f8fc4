import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { FastifyInstance } from "fastify";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { addMember, removeMember } from "../../src/dashboard/members.ts";
import { buildServer } from "../../src/http/server.ts";
import { updateAccount } from "../../src/merchant/updateAccount.ts";
import { randomAddress } from "../support/intents.ts";
import { openRoad, type Road } from "../support/road.ts";

// A wallet that is a contract signs in and signs a change of the payout (EIP-1271), on a real chain.

const newKey = () => privateKeyToAccount(generatePrivateKey());

/** The code of a wallet with one owner: it recovers the signer of the hash and answers with the selector if it is he. */
function walletCode({ address }: PrivateKeyAccount): string {
  const owner = address.slice(2).toLowerCase();
  const [hash, v, r, s] = ["600435600052", "60a43560f81c602052", "606435604052", "608435606052"];
  const recover = "602060806080600060015afa50";
  return `0x${hash}${v}${r}${s}${recover}60805173${owner}14631626ba7e60e01b0260005260206000f3`;
}

describe("a wallet that is a contract", () => {
  const owner = newKey();
  const wallet = randomAddress();
  let road: Road;
  let server: FastifyInstance;
  before(async () => {
    road = await openRoad();
    await road.chain.client.request({ method: "anvil_setCode", params: [wallet, walletCode(owner)] } as never);
    server = await buildServer(road.world);
  });
  after(async () => {
    await server.close();
    await road.close();
  });

  const post = (path: string, { cookie = "", ...fields }: Record<string, string>) =>
    server.inject({
      method: "POST",
      url: `/dashboard${path}`,
      headers: { "content-type": "application/x-www-form-urlencoded", cookie },
      payload: new URLSearchParams(fields).toString(),
      remoteAddress: `10.7.0.${(network += 1)}`,
    });
  let network = 0;
  const signIn = async (signer: PrivateKeyAccount, chainId: string) => {
    const { nonce, text } = (await post("/sign-in/challenge", { wallet, chainId })).json() as {
      nonce: string;
      text: string;
    };
    return post("/sign-in/wallet", { nonce, signature: await signer.signMessage({ message: text }) });
  };
  const chainId = () => String(road.chain.chainId);
  const cookieOf = (answered: Awaited<ReturnType<typeof post>>) =>
    String(answered.headers["set-cookie"]).split(";")[0] ?? "";

  test("it signs in as the member of its own chain, and nobody else does", async () => {
    const { id: accountId } = road.account;
    const plain = await addMember(road.world, { accountId, wallet, role: "owner" }, "operator");
    assert.equal((await signIn(owner, chainId())).statusCode, 401, "a member by his key is no contract");
    await removeMember(road.world, { accountId, memberId: plain.id }, "operator");
    await assert.rejects(
      addMember(road.world, { accountId, wallet: `eip155:999:${wallet}`, role: "owner" }, "operator"),
      /a chain of this service/,
    );
    await addMember(road.world, { accountId, wallet: `eip155:${chainId()}:${wallet}`, role: "owner" }, "operator");
    assert.equal((await signIn(newKey(), chainId())).statusCode, 401, "not its owner");
    for (const other of ["", "999"]) assert.equal((await signIn(owner, other)).statusCode, 401, "of another chain");
    const signed = await signIn(owner, chainId());
    assert.equal(signed.statusCode, 303, signed.body);
    const page = await server.inject({ url: "/dashboard/team", headers: { cookie: cookieOf(signed) } });
    assert.match(page.body, new RegExp(`eip155:${chainId()}:${wallet}`, "i"));
  });

  test("it signs a change of the payout that it receives", async () => {
    const { world, account, chain } = road;
    const payout = { namespace: "eip155", chainReference: chainId(), currency: "USDC" } as const;
    await updateAccount(world, { accountId: account.id, change: { payout: { ...payout, wallet } } });
    world.config.payoutChangeDelayHours = 48;
    const cookie = cookieOf(await signIn(owner, chainId()));
    const get = async () => (await server.inject({ url: "/dashboard/payout", headers: { cookie } })).body;
    const token = /name="token" value="([^"]+)"/.exec(await get())?.[1] ?? "";
    const next = randomAddress();
    const coin = `eip155:${chain.chainId} USDC`;
    assert.equal((await post("/payout", { token, cookie, coin, wallet: next })).statusCode, 303);
    const page = await get();
    const changeId = /name="changeId" value="([^"]+)"/.exec(page)?.[1] ?? "";
    const message = /<pre[^>]*id="text-to-sign"[^>]*>([^<]*)</.exec(page)?.[1] ?? "";
    const sign = async (signer: PrivateKeyAccount) =>
      post("/payout/sign", { token, cookie, changeId, signature: await signer.signMessage({ message }) });
    assert.equal((await sign(newKey())).statusCode, 400, "not its owner");
    assert.equal((await sign(owner)).statusCode, 303);
    assert.match(await get(), /waiting/);
    await chain.stop();
    const away = await signIn(owner, chainId());
    assert.match(
      away.body,
      /providers of this wallet&#39;s chain do not answer|providers of this wallet's chain do not answer/,
    );
    assert.equal(away.headers["set-cookie"], undefined);
  });
});
