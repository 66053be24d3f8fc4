import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Checkout } from "@tributary/react";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { solanaTermsFromWire } from "@tributary/inbox/solana/wire";
import { expectSolanaPayout } from "@tributary/sdk/solana/verify";
import { expectPayout } from "@tributary/sdk/verify";
import { build } from "esbuild";
import { skipWithoutChromium } from "../support/browser.ts";
import { events, inFrame, useShops, waitForEvent, type Shops } from "../support/shopPage.ts";
import { ON_SOLANA, solanaApi } from "../support/solanaApi.ts";
import { CLUSTER, SOLANA_PROGRAM, SOLANA_WALLET } from "../support/solanaConfig.ts";
import type { Json } from "../support/api.ts";

// The packages in a merchant's own bundle, with the service on another origin: verification, wallets and React.

const skip = skipWithoutChromium;
const shops = useShops();
const shopsOnSolana = useShops(solanaApi);

/** The merchant's own bundle: the packages instead of the served scripts. */
async function bundle(source: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: new URL("../..", import.meta.url).pathname, loader: "js" },
    bundle: true,
    write: false,
    format: "iife",
    define: { "process.env.NODE_ENV": '"development"' },
  });
  return `<script>${outputFiles[0]?.text.replaceAll("</script", String.raw`<\/script`)}</script>`;
}

type Verification = {
  shops: Shops;
  intent: Json;
  /** The source of the check, and the import that it needs. */
  check: (payoutWallet: string) => { name: string; module: string; source: string };
  wallets: { right: string; other: string };
  /** Stands in place of the intent's address, in answers of the service. */
  forged: string;
};

/**
 * The frame opens for the right wallet, and is gone for another wallet and for an address that the terms do not give.
 */
async function assertVerified({ shops, intent, check, wallets, forged }: Verification): Promise<void> {
  const open = (payoutWallet: string) => {
    const { name, module, source } = check(payoutWallet);
    return bundle(`
      import { configure, mount } from "@tributary/sdk";
      import { ${name} } from "${module}";
      configure({ baseUrl: "${shops.base}/" });
      const check = ${source};
      window.seen = [];
      mount({ intentId: "${intent.intentId}", target: "#pay", onReady: () => window.events.push(["ready", ""]),
        onError: ({ code }) => window.events.push(["error", code]),
        expectedPayout: (shown) => {
          window.seen.push(document.querySelector("iframe").style.visibility);
          return check(shown);
        } });
    `);
  };
  const head = await open(wallets.right);
  await shops.withPage(
    "",
    async (page) => {
      await waitForEvent(page, "ready");
      assert.deepEqual(await page.evaluate("window.seen"), ["hidden"]);
      assert.equal(await page.locator("iframe").isVisible(), true);
    },
    { head },
  );
  // The service names another wallet than the merchant's.
  await shops.withPage(
    "",
    async (page) => {
      await waitForEvent(page, "error");
      assert.deepEqual(await events(page), [["error", "not_verified"]]);
      assert.deepEqual(await page.evaluate("window.seen"), ["hidden"]);
      assert.equal(await page.locator("iframe").count(), 0);
    },
    { head: await open(wallets.other) },
  );
  // The address is another one than the terms give.
  await shops.withPage(
    "",
    async (page) => {
      await waitForEvent(page, "error");
      assert.deepEqual(await events(page), [["error", "not_verified"]]);
      assert.equal(await page.locator("iframe").count(), 0);
    },
    {
      head,
      prepare: (page) =>
        page.route("**/session", async (route) => {
          const response = await route.fetch();
          const body = (await response.text()).replaceAll(intent.inboxAddress, forged);
          await route.fulfill({ response, body });
        }),
    },
  );
}

test("D39 the frame shows nothing until the merchant's own code agrees with every address", { skip }, async () => {
  const intent = await shops.createIntent();
  const { payout, inboxTerms } = intent;
  await assertVerified({
    shops,
    intent,
    check: (payoutWallet) => ({
      name: "expectPayout",
      module: "@tributary/sdk/verify",
      source: `expectPayout({ payoutWallet: "${payoutWallet}", token: "${payout.tokenAddress}", chainId: ${payout.chainReference},
        feeBpsMax: ${intent.feeBps}, recovery: "${inboxTerms.recovery}", routesRoot: "${inboxTerms.routesRoot}" })`,
    }),
    wallets: { right: payout.wallet, other: `0x${"ab".repeat(20)}` },
    forged: `0x${"12".repeat(20)}`,
  });
});

test(
  "D39 the merchant's own code recomputes the address of a payout on Solana, letter by letter",
  { skip },
  async () => {
    const intent = await shopsOnSolana.createIntent({ ...ON_SOLANA, payoutWallet: SOLANA_WALLET });
    await assertVerified({
      shops: shopsOnSolana,
      intent,
      check: (payoutWallet) => ({
        name: "expectSolanaPayout",
        module: "@tributary/sdk/solana/verify",
        source: `expectSolanaPayout({ cluster: "${CLUSTER}", program: "${SOLANA_PROGRAM}", mint: "${intent.mint}",
        payoutWallet: "${payoutWallet}", feeBpsMax: ${intent.feeBps} })`,
      }),
      wallets: { right: SOLANA_WALLET, other: intent.mint },
      forged: SOLANA_WALLET,
    });
  },
);

test(
  "the merchant's own code is asked about an address once, however many states arrive before it answers",
  { skip },
  async () => {
    const { intentId, inboxAddress } = await shops.createIntent();
    let stream: Promise<unknown> | undefined;
    await shops.withPage(
      `mount({ intentId: "${intentId}", target: "#pay", ...handlers,
      expectedPayout: ({ inboxes }) => {
        note("asked")({ code: inboxes[0].address });
        return new Promise((agree) => { window.agree = agree; });
      } });`,
      async (page) => {
        await waitForEvent(page, "asked");
        await stream;
        await page.evaluate("window.agree(true)");
        await waitForEvent(page, "ready");
        const asked = (await events(page)).filter(([name]) => name === "asked");
        assert.deepEqual(asked, [["asked", inboxAddress]]);
      },
      {
        prepare: async (page) => {
          stream = page.waitForResponse((response) => response.url().endsWith("/events"), { timeout: 120_000 });
        },
      },
    );
  },
);

test("on Solana another fee, recovery key, mint or program is refused, and so is an address without terms", async () => {
  const intent = await shopsOnSolana.createIntent({ ...ON_SOLANA, payoutWallet: SOLANA_WALLET });
  const { inboxTerms: terms, inboxAddress: address } = intent;
  const expected = {
    cluster: CLUSTER,
    program: SOLANA_PROGRAM,
    mint: intent.mint,
    payoutWallet: SOLANA_WALLET,
    feeBpsMax: intent.feeBps,
  };
  const shown = { terms, inboxes: [{ namespace: "solana", address }] };
  assert.equal(expectSolanaPayout(expected)(shown), true);
  for (const change of [
    { feeBpsMax: -1 },
    { mint: SOLANA_WALLET },
    { program: intent.mint },
    { cluster: CLUSTER, program: undefined },
  ])
    assert.equal(
      expectSolanaPayout({ ...expected, ...change } as typeof expected)(shown),
      false,
      JSON.stringify(change),
    );
  const { solana, ...withoutSolana } = terms;
  const check = expectSolanaPayout(expected);
  assert.equal(check({ ...shown, terms: withoutSolana }), false);
  // The address commits to its recovery key: changed terms give another address, which is refused for its key.
  const changed = { ...solana, recovery: intent.mint };
  const other = computeSolanaInbox(solanaTermsFromWire(changed), changed).address;
  for (const [shownAddress, reason] of [
    [address, "wrong_address"],
    [other, "wrong_recovery"],
  ] as const) {
    const inboxes = [{ namespace: "solana", address: shownAddress }];
    assert.equal(check({ terms: { ...terms, solana: changed }, inboxes }), false);
    assert.equal(check.reason, reason);
  }
  assert.equal(check({ terms, inboxes: [] }), false);
  assert.equal(check.reason, "no_address");
  for (const wrong of [address.toLowerCase(), intent.tokenAccount])
    assert.equal(check({ terms, inboxes: [{ namespace: "solana", address: wrong }] }), false);
  // Its EVM terms have no routes to Solana.
  assert.equal(check({ terms, inboxes: [{ namespace: "eip155", address: `0x${"12".repeat(20)}` }] }), false);
});

test("a check may name the tokens of chains, in any case of letters", () => {
  const token = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
  const expected = { payoutWallet: `0x${"12".repeat(20)}`, token, chainId: 8_453, feeBpsMax: 50 } as const;
  assert.equal(expectPayout(expected).mayAsk, undefined);
  const { mayAsk } = expectPayout({ ...expected, tokens: { 8_453: token } });
  assert.deepEqual(
    [
      mayAsk?.(token.toLowerCase(), "0x2105"),
      mayAsk?.(`0x${"ab".repeat(20)}`, "0x2105"),
      mayAsk?.(token, "0x1"),
      mayAsk?.(undefined, "0x2105"),
      mayAsk?.(token, undefined),
    ],
    [true, false, false, false, false],
  );
});

test(
  "wallets of the shop's page are relayed with three methods, and for a token transfer alone",
  { skip },
  async () => {
    const { intentId, inboxAddress } = await shops.createIntent();
    const init = `if (window.parent === window) {
    window.calls = [];
    const provider = { request: async ({ method, params }) => {
      window.calls.push({ method, params });
      if (method === "eth_estimateGas" && !window.estimate) throw new Error("no estimate");
      if (method === "eth_estimateGas") return window.estimate;
      return method === "eth_requestAccounts" ? ["0x${"11".repeat(20)}"] : null;
    } };
    const detail = Object.freeze({ info: { uuid: "one", name: "Shop Wallet", icon: "data:image/png;base64,AA==", rdns: "x" }, provider });
    addEventListener("eip6963:requestProvider", () => dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail })));
  }`;
    await shops.withPage(
      `window.checkout = mount({ intentId: "${intentId}", target: "#pay", ...handlers });`,
      async (page) => {
        await waitForEvent(page, "ready");
        const frame = inFrame(page);
        await frame.locator("main[data-screen]").waitFor();
        if (await frame.locator("main[data-screen=choose]").isVisible()) await frame.locator(".opt.first").click();
        await frame.getByText("Pay with Shop Wallet").click();
        await page.waitForFunction("window.calls.length === 4");
        const calls = (await page.evaluate("window.calls")) as {
          method: string;
          params: [{ data?: string; to?: string }];
        }[];
        assert.deepEqual(
          calls.map(({ method }) => method),
          ["eth_requestAccounts", "wallet_switchEthereumChain", "eth_estimateGas", "eth_sendTransaction"],
        );
        const recipient = inboxAddress.slice(2).toLowerCase().padStart(64, "0");
        assert.equal(calls[3]?.params[0].data, `0xa9059cbb${recipient}${(5_000_000).toString(16).padStart(64, "0")}`);

        const checkout = page.frames().find((each) => each.url().startsWith(shops.base));
        assert.ok(checkout);
        /**
         * The frame's own request, as a service that was taken over makes it. Returns the wallet's result, or the message
         * of an error.
         */
        const relay = (method: string, parameters: unknown[]) =>
          checkout.evaluate(`new Promise((resolve) => {
          addEventListener("message", ({ data }) => data.call === 99 && resolve(data.error?.message ?? data.result), { once: true });
          parent.postMessage({ type: "tributary:wallet", call: 99, wallet: "one", method: ${JSON.stringify(method)},
            params: ${JSON.stringify(parameters)} }, ${JSON.stringify(shops.shop.origin)});
        })`);
        const [usual] = calls[3]?.params ?? [];
        for (const [method, parameters] of [
          ["personal_sign", []],
          ["eth_sendTransaction", [{ to: "0x1", data: `0x095ea7b3${"0".repeat(128)}` }]],
          ["eth_sendTransaction", []],
          ["eth_sendTransaction", [usual, { ...usual, value: "0x1" }]],
          ["eth_requestAccounts", [{}, {}]],
          ["eth_estimateGas", [usual]],
        ] as const)
          assert.equal(await relay(method, [...parameters]), "not relayed");
        assert.equal(await page.evaluate("window.calls.length"), 4);

        const greedy = { ...usual, value: "0x4563918244f40000", gas: "0x1", nonce: "0x0", authorizationList: [{}] };
        await relay("eth_sendTransaction", [greedy]);
        await relay("wallet_switchEthereumChain", [{ chainId: "0x7a69", rpcUrls: ["https://evil.example"] }]);
        const [estimated, sent, switched] = (await page.evaluate("window.calls.slice(4)")) as {
          params: [Record<string, unknown>];
        }[];
        const { from, to, data, chainId } = usual as Record<string, unknown>;
        assert.deepEqual(sent?.params, [{ from, to, data, chainId, gas: undefined }]);
        // The inbox may be empty by the time that the transfer runs, so another address is asked for, which holds nothing.
        const { data: ofEmpty, ...others } = estimated?.params[0] ?? {};
        assert.deepEqual(others, { from, to, chainId });
        const [inbox, empty] = [String(data), String(ofEmpty)];
        assert.notEqual(empty, inbox);
        assert.deepEqual(
          [empty.length, empty.slice(0, 34), empty.slice(74)],
          [inbox.length, inbox.slice(0, 34), inbox.slice(74)],
        );
        assert.deepEqual(switched?.params, [{ chainId: "0x7a69" }]);

        await page.evaluate(`window.estimate = "0x5208"`);
        await relay("eth_sendTransaction", [greedy]);
        const [last] = (await page.evaluate("window.calls.slice(-1)")) as { params: [Record<string, unknown>] }[];
        assert.deepEqual(last?.params, [{ from, to, data, chainId, gas: "0x5208" }]);

        // The shop may name the only token that its wallets are asked for.
        for (const [mayAsk, outcome] of [
          ["undefined", null],
          [`(token, chainId) => token === "${String(to)}" && chainId === "${String(chainId)}"`, null],
          ["() => false", "not relayed"],
        ]) {
          await page.evaluate(`checkout.update({ expectedPayout: Object.assign(() => true, { mayAsk: ${mayAsk} }) })`);
          await checkout.evaluate(`new Promise((resolve) => {
          addEventListener("message", ({ data }) => data.type === "tributary:verified" && resolve(), { once: true });
          parent.postMessage({ type: "tributary:verify", terms: {},
            inboxes: [{ namespace: "eip155", address: "${inboxAddress}" }] }, ${JSON.stringify(shops.shop.origin)});
        })`);
          assert.equal(await relay("eth_sendTransaction", [usual]), outcome);
        }
      },
      { init },
    );
  },
);

test("the React component works in StrictMode, on a server, and through changes", { skip }, async () => {
  const { intentId } = await shops.createIntent();
  const other = await shops.createIntent();
  const head = await bundle(`
    import { StrictMode, createElement as h } from "react";
    import { createRoot } from "react-dom/client";
    import { configure } from "@tributary/sdk";
    import { Checkout } from "@tributary/react";
    configure({ baseUrl: "${shops.base}" });
    addEventListener("DOMContentLoaded", () => {
      const root = createRoot(document.querySelector("#pay"));
      window.show = (props) => root.render(h(StrictMode, null, props && h(Checkout, { ...props,
        onReady: ({ intentId }) => window.events.push(["ready", intentId]) })));
      window.show({ intentId: "${intentId}" });
    });
  `);
  await shops.withPage(
    "",
    async (page) => {
      await waitForEvent(page, "ready");
      assert.equal(await page.locator("iframe").count(), 1);
      assert.deepEqual(await events(page), [["ready", intentId]]);
      await page.evaluate(
        `window.events = []; window.show({ intentId: ${JSON.stringify(other.intentId)}, locale: "es" })`,
      );
      await waitForEvent(page, "ready");
      assert.deepEqual(await events(page), [["ready", other.intentId]]);
      assert.equal(await page.locator("iframe").count(), 1);
      await page.evaluate("window.show(null)");
      await page.locator("iframe").waitFor({ state: "detached" });
    },
    { head },
  );
  const ofReact = createRequire(new URL("../../packages/react/package.json", import.meta.url));
  const { createElement }: { createElement: (type: unknown, props: object) => object } = ofReact("react");
  const { renderToString }: { renderToString: (element: object) => string } = ofReact("react-dom/server");
  const html = renderToString(createElement(Checkout, { intentId, className: "here" }));
  assert.equal(html, '<div class="here"></div>');
});
