import type { Locale } from "@tributary/checkout/locales";
import { merchantMessages, type MerchantMessages } from "../merchant/messages.ts";
import { ar } from "./ar.ts";
import { de } from "./de.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { ja } from "./ja.ts";
import { ko } from "./ko.ts";
import { pt } from "./pt.ts";
import { zh } from "./zh.ts";

/** The dashboard in its languages. Only the server imports this module: pages get the texts of their own. */
export const MERCHANT_MESSAGES: { readonly [Each in Locale]?: MerchantMessages } = {
  en: merchantMessages,
  ar,
  de,
  es,
  fr,
  ja,
  ko,
  pt,
  zh,
};
