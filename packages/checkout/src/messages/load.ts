import { ar } from "./ar.ts";
import { de } from "./de.ts";
import { en } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";
import { hi } from "./hi.ts";
import { ja } from "./ja.ts";
import { ko } from "./ko.ts";
import type { Locale } from "./locales.ts";
import type { Messages } from "./messages.ts";
import { pt } from "./pt.ts";
import { ru } from "./ru.ts";
import { tr } from "./tr.ts";
import { zh } from "./zh.ts";

/**
 * All languages. Only the server imports this module: the page receives the messages of its own language in its
 * document.
 */
export const MESSAGES: { readonly [Each in Locale]: Messages } = { en, de, es, fr, pt, tr, ar, zh, ja, ko, hi, ru };
