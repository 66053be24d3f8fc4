import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { buildPage } from "../scripts/buildPage.ts";
import { renderDocument } from "../src/renderDocument.ts";
import {
  chooseScreen,
  emptySituation,
  findPayTarget,
  hasChoice,
  searchOrigins,
  type Situation,
} from "../src/situation.ts";
import { MESSAGES } from "../src/messages/load.ts";
import { createTranslator } from "../src/translator.ts";
import { renderPage } from "../src/views/page.ts";
import { toHtml } from "../src/vnode.ts";
import { SAMPLE_ADDRESS, SAMPLE_ORIGINS, SAMPLES } from "./samples.ts";

const ASSETS = { css: "body{}", bootScript: "boot()", scriptName: "checkout.js" };
const NOW = "2026-11-22T14:32:00.000Z";

function situationOf(name: string, changes: Partial<Situation> = {}): Situation {
  const page = SAMPLES.get(name);
  assert.ok(page, name);
  const { state, origins, refusal } = page;
  const phase = refusal === null ? "open" : "refused";
  return { ...emptySituation(page.intentId), phase, refusal, state, origins, ...changes };
}

function htmlOf(name: string, locale = "en"): string {
  const page = SAMPLES.get(name);
  assert.ok(page, name);
  return renderDocument({ ...page, locale }, ASSETS, NOW).html;
}

/** The page as its script draws it, with plain spaces. */
function drawnHtml(name: string, changes: Partial<Situation>): string {
  const situation = situationOf(name, { isLive: true, check: { outcome: "ok" }, ...changes });
  const t = createTranslator("en", MESSAGES.en);
  const { body } = renderPage(situation, { t, now: NOW, times: { locale: "en", timeZone: "UTC" } });
  return body.map(toHtml).join("").replaceAll("\u00a0", " ");
}

const textOf = (html: string) => html.replaceAll(/<[^>]+>/g, "");

test("the built files are those of the sources", async () => {
  const read = (file: string) => readFile(new URL(`../${file}`, import.meta.url), "utf8");
  for (const [file, content] of Object.entries(await buildPage()))
    assert.ok((await read(file)) === `${content}\n`, `${file} is stale: npm run page -w packages/checkout`);
});

const SCREENS: readonly (readonly [sample: string, screen: string, heading: string])[] = [
  ["ready", "ready", "Send 25.00 USDC on Base"],
  ["openEnded", "ready", "Send USDC on Base"],
  ["underpaid", "underpaid", "Send 5.00 USDC more"],
  ["seen", "seen", "We see your payment"],
  ["many", "many", "2 transfers are here, the last is on its way"],
  ["paid", "paid", "Paid. Thank you!"],
  ["overpaid", "overpaid", "Paid, with 5.00 USDC too much"],
  ["late", "late", "Your 25.00 USDC came after the order was closed"],
  ["closedEarly", "late", "20.00 USDC arrived before the order was closed"],
  ["wrongToken", "held", "Your 25.00 USDT is on hold"],
  ["disagree", "held", "Your 25.00 USDC is on hold"],
  ["archived", "archived", "This payment is closed"],
  ["stale", "stale", "This link was replaced by a newer one"],
  ["ended", "ended", "This page was open for too long"],
  ["unknown", "unknown", "We know no payment with this link"],
  ["opening", "opening", "Opening your payment …"],
];

for (const [sample, screen, heading] of SCREENS) {
  test(`${sample}: one heading says what happened`, () => {
    const html = htmlOf(sample);
    assert.match(html, new RegExp(`data-screen="${screen}"`));
    const headings = [...html.matchAll(/<h1[^>]*>(.*?)<\/h1>/g)].map(([, content = ""]) => content);
    assert.equal(headings.length, 1);
    const text = (headings[0] ?? "").replaceAll(/<[^>]+>/g, "").replaceAll("\u00a0", " ");
    assert.equal(text, heading);
  });
}

test("an address that does not match wins over every other state", () => {
  const check = { outcome: "mismatch", expected: "0x1", received: "0x2" } as const;
  for (const name of ["ready", "seen", "paid", "archived"])
    assert.equal(chooseScreen(situationOf(name, { check })), "refused");
});

test("the choice shows while the payer chooses, and never once money is under way", () => {
  assert.equal(chooseScreen(situationOf("ready", { isChoosing: true })), "choose");
  assert.equal(chooseScreen(situationOf("underpaid", { isChoosing: true })), "choose");
  assert.equal(chooseScreen(situationOf("seen", { isChoosing: true })), "seen");
  assert.equal(chooseScreen(situationOf("ready", { isChoosing: true, origins: null })), "ready");
});

test("a deposit on hold gives way to the ways to pay when the payer asks for them", () => {
  assert.equal(chooseScreen(situationOf("wrongToken")), "held");
  assert.equal(chooseScreen(situationOf("wrongToken", { isPayingAgain: true })), "ready");
});

test("without an answer the first load says so, and later the page stays", () => {
  assert.equal(chooseScreen({ ...emptySituation("pi_1"), phase: "down" }), "down");
  const connection = { isLost: true, retrySeconds: 4, isBack: false };
  assert.equal(chooseScreen(situationOf("ready", { connection })), "ready");
});

test("a chosen origin without an inbox does not take the payout's address", () => {
  const chosenOriginId = SAMPLE_ORIGINS.origins[2]?.originId ?? "";
  assert.equal(findPayTarget(situationOf("ready", { chosenOriginId }))?.origin?.isPayout, true);
  const issued = situationOf("ready", { chosenOriginId }).state?.inboxes[0];
  assert.ok(issued);
  const issuedInboxes = [{ ...issued, networkName: "Arbitrum", originIds: [chosenOriginId], isPayoutInbox: false }];
  const target = findPayTarget(situationOf("ready", { chosenOriginId, issuedInboxes }));
  assert.equal(target?.inbox.networkName, "Arbitrum");
  assert.equal(target?.origin?.originId, chosenOriginId);
});

test("another way is offered unless the one shown is the only one that is open", () => {
  assert.equal(hasChoice(situationOf("ready")), true);
  assert.equal(hasChoice(situationOf("paused")), true);
  const only = SAMPLE_ORIGINS.origins.map((origin) => ({ ...origin, isIssuable: origin.isPayout }));
  assert.equal(hasChoice(situationOf("ready", { origins: { isIssuable: true, origins: only } })), false);
  assert.match(htmlOf("paused"), /Paused: we cannot see this network clearly right now/);
});

test("the search finds coins and networks by any of their words", () => {
  const { origins } = SAMPLE_ORIGINS;
  assert.deepEqual(
    searchOrigins(origins, "usdt").map(({ symbol }) => symbol),
    ["USDT"],
  );
  assert.equal(searchOrigins(origins, "  Base usdc ").length, 1);
  assert.equal(searchOrigins(origins, "").length, origins.length);
  assert.equal(searchOrigins(origins, "doge").length, 0);
});

test("a fee below a cent is less than 1 cent, and not nothing", () => {
  const [sample] = SAMPLE_ORIGINS.origins;
  assert.ok(sample);
  const feeText = (feeUsdMax: string) => {
    const origins = { isIssuable: true, origins: [{ ...sample, feeUsdMax }] };
    return /fee [^<]*/.exec(drawnHtml("ready", { isChoosing: true, origins }))?.[0];
  };
  assert.deepEqual(["0", "0.004", "0.01", "0.05", "0.2"].map(feeText), [
    "fee less than 1 cent",
    "fee less than 1 cent",
    "fee under $0.01",
    "fee under $0.05",
    "fee about $0.20",
  ]);
});

test("what the payment takes or takes again later stands first, the rest behind one line, unless it is searched for", () => {
  const foldOf = (searchText: string) => {
    const html = drawnHtml("ready", { isChoosing: true, searchText });
    const [first = "", folded = ""] = html.split('<details class="others">');
    const names = (part: string) => [...part.matchAll(/data-do="choose"/g)].length;
    return [names(first), names(folded)];
  };
  const { origins } = SAMPLE_ORIGINS;
  const taken = origins.filter(({ isIssuable, reason }) => isIssuable || reason === "paused").length;
  assert.ok(taken < origins.length);
  assert.deepEqual(foldOf(""), [taken, origins.length - taken]);
  const found = searchOrigins(origins, "usdc").length;
  assert.ok(found > 0);
  assert.deepEqual(foldOf("usdc"), [found, 0]);
});

test("a payment without a price takes an amount for a wallet of the browser, which gets nothing before", () => {
  const wallets = [{ id: "w", namespace: "eip155", name: "Wallet", icon: null }] as const;
  const empty = drawnHtml("openEnded", { wallets });
  assert.match(empty, /id="typed-amount"/);
  assert.match(empty, /data-do="wallet"[^>]*aria-disabled="true"/);
  assert.doesNotMatch(textOf(empty), /Nothing to type/);
  const typed = drawnHtml("openEnded", { wallets, amountText: "12,5" });
  assert.doesNotMatch(typed, /data-do="wallet"[^>]*aria-disabled/);
  assert.match(textOf(typed), /12\.50 USDC/);
});

test("texts of a merchant are text, and only web addresses become links", () => {
  const html = htmlOf("hostile");
  assert.doesNotMatch(html, /<img src=x/);
  assert.doesNotMatch(html, /href="javascript:/i);
  assert.equal(html.match(/<\/script>/g)?.length, 3, "the page's own scripts alone end");
  assert.ok(html.includes("&lt;img src=x onerror=&quot;document.title=1&quot;&gt;"));
});

test("without a script the page has the address, the amount and a way to look again, and nothing that needs a script", () => {
  const html = htmlOf("ready", "de");
  assert.doesNotMatch(html, /data-do=/);
  assert.match(html, /Senden Sie den Betrag an die Adresse/);
  assert.match(html, /href="\/c\/pi_sample"/);
  assert.equal(html.replaceAll(/<[^>]+>/g, "").includes(SAMPLE_ADDRESS), true);
});

test("an unknown language is English, and Arabic is written right to left", () => {
  assert.match(htmlOf("ready", "xx"), /<html lang="en" dir="ltr">/);
  assert.match(htmlOf("ready", "ar"), /<html lang="ar" dir="rtl">/);
});

test("the policy's inline parts are exactly those of the document", () => {
  const page = SAMPLES.get("ready");
  assert.ok(page);
  const brandCss = ":root{--tr-accent:#7a2f2a}";
  const { html, inlineStyles, inlineScripts } = renderDocument({ ...page, brandCss }, ASSETS, NOW);
  const styles = [...html.matchAll(/<style>(.*?)<\/style>/gs)].map(([, content]) => content);
  const scripts = [...html.matchAll(/<script>(.*?)<\/script>/gs)].map(([, content]) => content);
  assert.deepEqual(styles, [...inlineStyles]);
  assert.deepEqual(scripts, [...inlineScripts]);
  assert.doesNotMatch(html, / style=/);
});
