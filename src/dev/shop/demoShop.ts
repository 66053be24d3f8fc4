import { readFileSync } from "node:fs";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { numberToHex, type Hex } from "viem";
import { decodeKey } from "@tributary/inbox/solana/keys";
import { SolanaRpc } from "../../chain/solana/rpc/solanaRpc.ts";
import type { Clock } from "../../kernel/clock.ts";
import { referenceOf } from "../../kernel/caip.ts";
import type { DevSolana } from "../devSolana.ts";
import { createApiClient } from "../../operator/client/apiClient.ts";
import type { LocalChain } from "../chains/localChains.ts";
import { transferCall } from "../chains/tokens.ts";
import type { ManifestAccount } from "../manifest.ts";
import { addShopWebhook, ShopOrders } from "./shopWebhooks.ts";
import { createDemoWallet, formatBalance, WalletError, type DemoWallet } from "./demoWallet.ts";

// The demo shop of the dev world. Its server uses the API with a merchant's key, and its page uses the SDK, as any shop
// does.

const PRICE_UNITS = 25_000_000;
const SIGNATURE_BYTES = 64;
const BODY_BYTES_MAX = 16_384;
const POLICY = `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:; frame-ancestors 'none'`;

const readFile = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");
const readStyles = () =>
  readFileSync(new URL(import.meta.resolve("@tributary/checkout/page.css")), "utf8") + readFile("shop.css");

type ShopParts = {
  baseUrl: string;
  account: ManifestAccount;
  /** Of the shop's webhook endpoint. */
  secret: string;
  clock: Pick<Clock, "now">;
  chains: readonly LocalChain[];
  solana: DevSolana;
};

/** Adds `/demo` and what its page needs to a server before it listens. */
export function addDemoShop(
  server: FastifyInstance,
  { baseUrl, account, secret, clock, chains, solana }: ShopParts,
): void {
  const files = [
    { url: "/demo", type: "text/html", content: readFile("shop.html") },
    { url: "/dev/shop/shop.js", type: "text/javascript", content: readFile("shop.js") },
    { url: "/dev/shop/solanaWallet.js", type: "text/javascript", content: readFile("solanaWallet.js") },
    { url: "/dev/shop/shop.css", type: "text/css", content: readStyles() },
  ];
  for (const { url, type, content } of files)
    server.get(url, (_request, reply) =>
      reply.headers({ "content-type": `${type}; charset=utf-8`, "content-security-policy": POLICY }).send(content),
    );
  const api = createApiClient({ baseUrl, apiKey: account.apiKey });
  const orders = new ShopOrders(api, clock);
  addShopWebhook(server, { orders, secret });
  const wallet = createDemoWallet(chains);
  const onSolana = openSolanaWallet(server, solana);
  addAction(server, "orders", async ({ network }) => {
    const isSolana = network === "solana";
    const intent = await api.createPaymentIntent({
      priceUnits: PRICE_UNITS,
      oneTime: true,
      description: "The Tidal Atlas",
      merchantReference: "demo shop",
      returnUrl: `${baseUrl}/demo`,
      ...(isSolana ? payoutOnSolana(solana) : {}),
    });
    orders.add(intent.intentId);
    // A wallet on Solana asks the checkout for the whole transaction.
    return { intentId: intent.intentId, transfer: isSolana ? null : describeTransfer(intent) };
  });
  addAction(server, "order", async ({ intentId }) => orders.get(String(intentId)));
  const walletOn = (network: unknown) => (network === "solana" ? onSolana : wallet);
  addAction(server, "balance", ({ network }) => walletOn(network).balance());
  addAction(server, "more", async ({ network }) => {
    await walletOn(network).addMoney();
    return {};
  });
  addAction(server, "wallet", async ({ method, params }) => ({
    result: await wallet.request(String(method), Array.isArray(params) ? params : []),
  }));
}

function payoutOnSolana({ chain, shopWallet }: DevSolana) {
  return {
    payoutNamespace: "solana" as const,
    payoutChainReference: referenceOf(chain.caip2),
    payoutWallet: shopWallet,
  };
}

/** Adds what the wallet of the page needs to pay on Solana: its account, and signatures for it. */
function openSolanaWallet(
  server: FastifyInstance,
  { chain, wallet }: DevSolana,
): Pick<DemoWallet, "balance" | "addMoney"> {
  const rpc = new SolanaRpc({ url: chain.rpcUrl });
  server.addHook("onClose", () => rpc.close());
  addAction(server, "solana-account", async () => {
    const { address } = wallet;
    return { address, publicKey: toBase64(decodeKey("account", address)) };
  });
  addAction(server, "solana-send", async ({ transaction }) => {
    const signed = wallet.sign(new Uint8Array(Buffer.from(String(transaction), "base64")));
    const options = { encoding: "base64", preflightCommitment: "confirmed" };
    await rpc.call("sendTransaction", [toBase64(signed), options]);
    return { signature: toBase64(signed.subarray(1, 1 + SIGNATURE_BYTES)) };
  });
  return {
    balance: async () => {
      const { symbol, decimals, units } = wallet.balance();
      return { network: chain.name, balance: formatBalance(units, { symbol, decimals }) };
    },
    addMoney: async () => wallet.addMoney(),
  };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

type Order = Awaited<ReturnType<ReturnType<typeof createApiClient>["createPaymentIntent"]>>;

/** The transfer that pays an order, for the wallet of the shop's page. */
function describeTransfer({ inboxAddress, payout, amounts }: Order): object {
  const call = transferCall(payout.tokenAddress as Hex, inboxAddress as Hex, BigInt(amounts.priceUnits ?? 0));
  return { ...call, value: "0x0", chainId: numberToHex(BigInt(payout.chainReference)) };
}

type Action = (body: Readonly<Record<string, unknown>>) => Promise<object>;

/** Only the shop's own page may act: a JSON body from another origin needs a permission that nothing here gives. */
function addAction(server: FastifyInstance, name: string, act: Action): void {
  const handle = async (request: FastifyRequest, reply: FastifyReply) => {
    try {
      return await reply.send(await act((request.body ?? {}) as Readonly<Record<string, unknown>>));
    } catch (error) {
      const code = error instanceof WalletError ? error.code : -32_603;
      return reply.code(500).send({ code, message: error instanceof Error ? error.message : String(error) });
    }
  };
  server.post(`/dev/shop/${name}`, { bodyLimit: BODY_BYTES_MAX }, handle);
}
