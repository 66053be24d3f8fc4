import { isLocale, type Locale } from "@tributary/checkout/locales";
import { createTranslator } from "../translator.ts";
import { opsMessages, type OpsMessages, type OpsTranslator } from "./en.ts";

// The languages of the pages. A language is a table with the same keys. Only the server imports this module.

const OPS_MESSAGES: { readonly [Each in Locale]?: OpsMessages } = { en: opsMessages };

export const LOCALES: readonly string[] = Object.keys(OPS_MESSAGES);

/** An unknown locale becomes English. */
export function opsTranslator(locale: string): { t: OpsTranslator; messages: OpsMessages } {
  const known = isLocale(locale) && OPS_MESSAGES[locale] !== undefined ? locale : "en";
  const messages = OPS_MESSAGES[known] ?? opsMessages;
  return { t: createTranslator(known, messages), messages };
}
