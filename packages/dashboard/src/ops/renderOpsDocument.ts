import { renderDocument } from "../document.ts";
import { opsTranslator } from "../messages/load.ts";
import type { OpsMessages } from "../messages/en.ts";
import type { Locale } from "@tributary/checkout/locales";
import type { OpsContext } from "./opsContext.ts";
import { renderOps, type RenderedOps } from "./opsPage.ts";
import type { OpsSearch, OpsState } from "./opsState.ts";
import { renderSearch } from "./searchPage.ts";
import { renderSignIn, type SignIn } from "./signInPage.ts";

/** What the document hands to the page's script. */
export type OpsData = { readonly state: OpsState; readonly locale: Locale; readonly messages: OpsMessages };

export const OPS_FILES = "/ops";
export const OPS_SCRIPT = "ops.js";
export const OPS_KEYS_SCRIPT = "keys.js";

/** Times are in UTC until the script knows the reader's zone. */
function contextOf(locale: string, now: string): { context: OpsContext; messages: OpsMessages } {
  const { t, messages } = opsTranslator(locale);
  return { context: { t, times: { locale: t.locale, timeZone: "UTC", now } }, messages };
}

export function renderOpsDocument(state: OpsState, locale: string, now: string): string {
  const { context, messages } = contextOf(locale, now);
  const rendered = renderOps(context, state, { ageMs: state.ageMs, everyS: null, problem: null });
  const data: OpsData = { state, locale: context.t.locale, messages };
  return toDocument(context, rendered, { script: OPS_SCRIPT, data });
}

export function renderSearchDocument(
  state: Pick<OpsState, "installation">,
  search: OpsSearch,
  { locale, now }: { locale: string; now: string },
): string {
  const { context } = contextOf(locale, now);
  return toDocument(context, renderSearch(context, state, search), { script: OPS_KEYS_SCRIPT });
}

export function renderSignInDocument(signIn: SignIn, locale: string, now: string): string {
  const { context } = contextOf(locale, now);
  return toDocument(context, renderSignIn(context, signIn), { script: OPS_KEYS_SCRIPT });
}

function toDocument(
  { t }: OpsContext,
  { title, body }: RenderedOps,
  { script, data }: { script: string; data?: OpsData },
): string {
  const handed = data === undefined ? {} : { data };
  return renderDocument({ locale: t.locale, title, filesPath: OPS_FILES, script, body, ...handed });
}
