/** The languages of the page, each with the name that its speakers give it. */
export const LANGUAGES = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  fr: "Français",
  pt: "Português",
  tr: "Türkçe",
  ar: "العربية",
  zh: "中文",
  ja: "日本語",
  ko: "한국어",
  hi: "हिन्दी",
  ru: "Русский",
} as const;

export type Locale = keyof typeof LANGUAGES;

export function isLocale(text: string): text is Locale {
  return Object.hasOwn(LANGUAGES, text);
}

export function textDirection(locale: Locale): "ltr" | "rtl" {
  return locale === "ar" ? "rtl" : "ltr";
}
