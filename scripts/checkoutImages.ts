/** Draws the images of docs/images that show the checkout page: `node scripts/checkoutImages.ts`. */
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { openBrowser } from "../test/support/browser.ts";
import { openSample, type SampleOptions } from "../test/support/checkoutSamples.ts";

const PHONE = { width: 390, height: 780 };
const CELL_PX = 236;
const SHEET_PX = 1_250;
const SHOWN: readonly (readonly [screen: string, title: string, options?: SampleOptions])[] = [
  ["choose", "Choose"],
  ["ready", "Pay"],
  ["address", "Address only", { theme: "dark" }],
  ["underpaid", "Underpaid"],
  ["seen", "Seen"],
  ["many", "In several transfers"],
  ["paid", "Paid"],
  ["overpaid", "Too much"],
  ["late", "Late", { theme: "dark" }],
  ["wrongToken", "Wrong coin"],
  ["wrongNetwork", "Wrong network", { locale: "ar" }],
  ["offline", "Offline"],
  ["refused", "Address refused"],
  ["stale", "Replaced link"],
  ["archived", "Closed"],
];

const browser = await openBrowser();
await writeImage("checkout.png", await shoot("ready", {}));
await writeImage("checkout-paid.png", await shoot("paid", { theme: "dark" }));
await writeImage("checkout-states.png", await drawSheet(browser));
await browser.close();

async function shoot(screen: string, options: SampleOptions): Promise<Buffer> {
  const context = await browser.newContext({
    viewport: PHONE,
    isMobile: true,
    hasTouch: true,
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  await openSample(page, screen, options);
  const marks = page.locator(".mark");
  if ((await marks.count()) > 0) await marks.locator("path").first().waitFor({ state: "attached" });
  const image = await page.screenshot({ fullPage: true });
  await context.close();
  return image;
}

/** One image of every screen, side by side. */
async function drawSheet(drawing: Browser): Promise<Buffer> {
  const figures: string[] = [];
  for (const [screen, title, options] of SHOWN) {
    const source = `data:image/png;base64,${(await shoot(screen, options ?? {})).toString("base64")}`;
    figures.push(`<figure><figcaption>${title}</figcaption><img src="${source}"></figure>`);
  }
  const page = await drawing.newPage({ viewport: { width: SHEET_PX, height: 800 } });
  await page.setContent(`<style>
    body { margin: 0; padding: 10px; background: #8b9a9e; font: 600 15px sans-serif; display: flex; flex-wrap: wrap; gap: 10px }
    figure { margin: 0; width: ${CELL_PX}px; height: 500px; overflow: hidden; background: #fff; border-radius: 8px }
    figcaption { padding: 6px 10px; background: #0d1c20; color: #fff } img { width: 100% }
  </style>${figures.join("")}`);
  const image = await page.screenshot({ fullPage: true });
  await page.close();
  return image;
}

async function writeImage(name: string, image: Buffer): Promise<void> {
  await writeFile(fileURLToPath(new URL(`../docs/images/${name}`, import.meta.url)), image);
}
