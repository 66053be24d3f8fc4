import { hash } from "node:crypto";
import type { CheckoutPage, CheckoutState } from "@tributary/checkout/checkoutState";
import { LOOKS, type Looks } from "@tributary/dashboard/merchant/checkout";
import { Fault } from "../../kernel/faults.ts";
import { brandCss, type Brand } from "../../merchant/brand/brand.ts";
import { parseBrandChange } from "../../merchant/brand/updateBrand.ts";
import type { World } from "../../world.ts";
import { renderPage } from "../checkout/page/renderPage.ts";

// The checkout with looks that are not saved yet. It shows a paid payment that does not exist, has no address and runs no
// script, so nobody can pay it.

const SAMPLE_ID = "pi_00000000000000000000000000";

type PreviewWorld = Pick<World, "config" | "clock">;
type Preview = {
  accountName: string;
  logo: Brand["logo"];
  looks: Looks;
  locale: string;
  theme: "light" | "dark" | null;
};

/** The page and its policy, which lets only the dashboard frame it. */
export function renderPreview(world: PreviewWorld, preview: Preview): { html: string; policy: string } {
  const { accountName, looks, locale, theme } = preview;
  const brand = parseLooks(looks);
  const logo = preview.logo === null ? null : `data:${preview.logo.type};base64,${toBase64(preview.logo.bytes)}`;
  const page: CheckoutPage = {
    intentId: SAMPLE_ID,
    locale,
    theme,
    mode: "page",
    state: sampleState(world, { name: accountName, support: brand.support, logo }),
    origins: null,
    refusal: null,
    brandCss: brandCss(brand),
    logo: null,
  };
  const { html, inlineStyles } = renderPage(page, world.clock.now());
  const styles = inlineStyles.map((text) => `'sha256-${hash("sha256", text, "base64")}'`);
  const policy = [
    "default-src 'none'",
    `style-src ${styles.join(" ")}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
    "sandbox",
  ].join("; ");
  return { html, policy };
}

/** What is no colour yet, while it is typed, is the default. */
function parseLooks(looks: Looks): Pick<Brand, "accent" | "accentDark" | "radiusPx" | "font" | "support"> {
  const parsed = { accent: null, accentDark: null, radiusPx: null, font: null, support: null };
  for (const name of LOOKS) {
    const typed = looks[name];
    if (typed === "") continue;
    try {
      Object.assign(parsed, parseBrandChange(name === "radius" ? { radiusPx: Number(typed) } : { [name]: typed }));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  }
  return parsed;
}

function sampleState({ clock, config }: PreviewWorld, merchant: CheckoutState["merchant"]): CheckoutState {
  const now = clock.now().toISOString();
  const none = `0x${"0".repeat(40)}` as const;
  return {
    version: "1",
    asOf: now,
    intentId: SAMPLE_ID,
    paymentNumber: "SAMPLE",
    stage: "paid",
    isTest: false,
    merchant,
    description: null,
    returnUrl: config.baseUrl,
    symbol: "USDC",
    decimals: 6,
    price: "25",
    remaining: "0",
    remainingUnits: "0",
    arrived: "25",
    counted: "25",
    excess: "0",
    minimum: "1",
    belowMinimum: "0",
    deposits: [],
    hasMoreDeposits: false,
    held: null,
    inboxes: [],
    terms: {
      hubVersion: "0",
      salt: `0x${"0".repeat(64)}`,
      settleChainId: "1",
      settleToken: none,
      payout: none,
      feeRecipient: none,
      feeBps: 0,
      recovery: none,
      recoverAfter: 0,
      routesRoot: `0x${"0".repeat(64)}`,
    } as unknown as CheckoutState["terms"],
    paidAt: now,
    closedAt: now,
  };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}
