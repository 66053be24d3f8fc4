import { hash } from "node:crypto";
import type { FastifyReply } from "fastify";
import { findChainDescription } from "../../catalog/catalog.ts";
import { namespaceOf, type Caip2 } from "../../kernel/caip.ts";
import { findPageBrand, type PageBrand } from "../../intent/checkout/pageBrand.ts";
import { findIntentById } from "../../intent/store.ts";
import { brandCss } from "../../merchant/brand/brand.ts";
import type { World } from "../../world.ts";
import { LOCALES } from "@tributary/checkout/renderDocument";
import type { CheckoutContext } from "./checkoutContext.ts";
import type { CheckoutPage, CheckoutState, RefusalReason, RenderedPage } from "@tributary/checkout/checkoutState";
import { chooseLocale } from "./locale.ts";
import { renderPage, SCRIPT_NAME } from "./page/renderPage.ts";
import { sendDocument } from "../sendCompressed.ts";
import { setPrivate } from "./session/publicLimits.ts";
import type { CheckoutRequest } from "./session/requireSession.ts";
import { readOrigins } from "./state/readState.ts";

export type PageContent = { state?: CheckoutState | undefined; refusal?: RefusalReason };

/**
 * Sends the page with what is known of the payment. Only origins on the account's list may frame it. The policy allows
 * this service's own files, and the inline parts that the renderer names, by their hashes.
 */
export async function sendPage(
  context: CheckoutContext,
  { request, reply }: PageExchange,
  content: PageContent,
): Promise<FastifyReply> {
  const { world } = context;
  const { intentId } = request.params;
  return sendRendered(
    context,
    { request, reply },
    { intentId, brand: await readPageBrand(world, intentId), ...content },
  );
}

/** Stands for what is no id in the links of its page: nothing of the address is repeated. */
const UNKNOWN_ID = "pi_00000000000000000000000000";

/** Sends the page of an unknown payment, without a look at the database. */
export async function sendUnknownPage(context: CheckoutContext, exchange: PageExchange): Promise<FastifyReply> {
  return sendRendered(context, exchange, { intentId: UNKNOWN_ID, brand: undefined, refusal: "unknown" });
}

type PageExchange = { request: CheckoutRequest; reply: FastifyReply };

async function sendRendered(
  { world }: CheckoutContext,
  { request, reply }: PageExchange,
  { intentId, brand, ...content }: PageContent & { intentId: string; brand: PageBrand | undefined },
): Promise<FastifyReply> {
  const page: CheckoutPage = {
    intentId,
    ...readOptions(request),
    state: content.state ?? null,
    origins: content.state === undefined ? null : await readPageOrigins(world, content.state),
    refusal: content.refusal ?? null,
    brandCss: brand === undefined ? "" : brandCss(brand),
    logo: brand?.hasLogo === true ? `/c/${intentId}/logo` : null,
  };
  const rendered = renderPage(page, world.clock.now());
  setPrivate(reply).headers({
    "content-type": "text/html; charset=utf-8",
    // The script comes beside the document, and not after its head has been read.
    link: `</c/${intentId}/${SCRIPT_NAME}>; rel=modulepreload`,
    "content-security-policy": contentSecurityPolicy(rendered, {
      frameAncestors: brand?.origins ?? [],
      connections: listConnections(world, brand?.payoutChain),
    }),
    vary: "Accept-Encoding, Accept-Language, Cookie",
  });
  return sendDocument(request, reply, rendered.html);
}

/**
 * Options of the page's address. An unknown value is the default: the address may come from an old page of a merchant.
 */
function readOptions({ query, headers }: CheckoutRequest): Pick<CheckoutPage, "locale" | "theme" | "mode"> {
  const { locale, theme, mode } = query as Readonly<Record<string, unknown>>;
  const option = typeof locale === "string" ? locale : undefined;
  return {
    locale: chooseLocale({ option, acceptLanguage: headers["accept-language"] }, LOCALES),
    theme: theme === "light" || theme === "dark" ? theme : null,
    mode: mode === "inline" || mode === "modal" ? mode : "page",
  };
}

async function readPageOrigins(world: World, { intentId, stage }: CheckoutState): Promise<CheckoutPage["origins"]> {
  if (stage === "archived") return null;
  const intent = await findIntentById(world.db, intentId);
  return intent === undefined || intent.status === "archived" ? null : readOrigins(world, intent);
}

/** Undefined for an unknown intent, and when the database fails: such a page has no brand and may not be framed. */
async function readPageBrand(world: World, intentId: string): Promise<PageBrand | undefined> {
  try {
    return await findPageBrand(world.db, intentId);
  } catch (error) {
    world.log.warn({ err: error }, "reading the brand and the page origins failed");
    return undefined;
  }
}

/**
 * On Solana the page sends what a wallet has only signed, also where the payment crosses from there. Elsewhere wallets
 * send by themselves.
 */
function listConnections({ catalog }: World, payoutChain: Caip2 | undefined): string[] {
  if (payoutChain === undefined) return [];
  const crossing = catalog.assets.filter(({ isOrigin, bridge }) => isOrigin && bridge !== undefined);
  const chains = namespaceOf(payoutChain) === "solana" ? [payoutChain] : crossing.map(({ chain }) => chain);
  const clusters = new Set(chains.filter((chain) => namespaceOf(chain) === "solana"));
  return [...clusters].flatMap((chain) => {
    const { publicRpcUrl = "" } = findChainDescription(catalog, chain) ?? {};
    return URL.parse(publicRpcUrl)?.origin ?? [];
  });
}

type AllowedOrigins = { readonly frameAncestors: readonly string[]; readonly connections: readonly string[] };

/** Images may be data URLs, because a wallet announces its icon as one. */
function contentSecurityPolicy(
  { inlineScripts, inlineStyles }: RenderedPage,
  { frameAncestors, connections }: AllowedOrigins,
): string {
  const sources = (inline: readonly string[]) => ["'self'", ...inline.map(hashSource)].join(" ");
  return [
    "default-src 'none'",
    `script-src ${sources(inlineScripts)}`,
    `style-src ${sources(inlineStyles)}`,
    "img-src 'self' data:",
    ["connect-src 'self'", ...connections].join(" "),
    "base-uri 'none'",
    "form-action 'self'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(" ")}`,
  ].join("; ");
}

function hashSource(text: string): string {
  return `'sha256-${hash("sha256", text, "base64")}'`;
}
