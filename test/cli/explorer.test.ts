import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import {
  renderFieldTable,
  renderExplorerPage as pageOf,
  transfersTable,
  type TransferRow,
} from "../../src/dev/explorer/explorerPages.ts";
import { openBrowser, skipWithoutChromium } from "../support/browser.ts";

// The layout of the local explorer on narrow and wide screens.

const LOCATION = { chainName: "Dev Chain One", root: "/dev/explorer/900001" };
const INBOX = "0x31712A49905184505C136F9cBa3cf22FE02Bb674";
const [FEES, RECOVERY] = [`0x${"1".repeat(40)}`, `0x${"2".repeat(40)}`];
const NAMES = new Map([
  [FEES, "fee recipient"],
  [RECOVERY, "recovery second"],
]);
const txHash = `0x${"ab".repeat(32)}`;
const USDC = { symbol: "USDC", address: INBOX, decimals: 6 };
const TRANSFERS: TransferRow[] = [
  { txHash, from: INBOX, to: FEES, amountUnits: 15_000n, token: USDC },
  { txHash, from: RECOVERY, to: INBOX, amountUnits: 10_000_000_123_456n, token: { ...USDC, symbol: "Long Symbol" } },
];
const HTML = pageOf(
  `Transaction ${txHash}`,
  LOCATION,
  `${renderFieldTable([["Block", `<code>${txHash}</code>`]])}${transfersTable(TRANSFERS, LOCATION, NAMES)}`,
);

/** Words of the transfer table that wrap onto a second line. */
async function findSplitWords(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const broken: string[] = [];
    const texts = document.createTreeWalker(
      document.querySelector(".transfers") ?? document.body,
      NodeFilter.SHOW_TEXT,
    );
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      for (const { 0: word, index } of (node.textContent ?? "").matchAll(/\S+/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
      }
    }
    return broken;
  });
}

describe("the local explorer", { skip: skipWithoutChromium }, () => {
  let browser: Browser;
  before(async () => {
    browser = await openBrowser();
  });
  after(() => browser.close());

  for (const width of [320, 390, 768, 1_280]) {
    test(`at ${width} pixels no word of a transfer wraps, and the page does not scroll sideways`, async () => {
      const page = await browser.newPage({ viewport: { width, height: 800 } });
      await page.setContent(HTML);
      assert.deepEqual(await findSplitWords(page), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
      for (const text of ["fee recipient", "recovery second", "0.015 USDC", "10000000.123456 Long Symbol"])
        assert.ok(await page.getByText(text).isVisible(), text);
      await page.close();
    });
  }
});
