import type { Locale } from "./messages/locales.ts";

type Category = Intl.LDMLPluralRule;

/**
 * The plural category of a whole number, as `Intl.PluralRules` has it: making one of those takes a slow phone longer
 * than the rest of the first drawing.
 */
export function pluralCategory(locale: Locale, count: number): Category {
  const hundreds = count % 100;
  switch (locale) {
    case "ja":
    case "ko":
    case "zh":
      return "other";
    case "ar":
      if (count < 3) return (["zero", "one", "two"] as const)[count] ?? "other";
      if (hundreds < 3) return "other";
      return hundreds < 11 ? "few" : "many";
    case "ru":
      if (hundreds > 10 && hundreds < 15) return "many";
      if (count % 10 === 1) return "one";
      return count % 10 > 1 && count % 10 < 5 ? "few" : "many";
    default: {
      const isOne = count === 1 || (count === 0 && ["fr", "hi", "pt"].includes(locale));
      if (isOne) return "one";
      return count > 0 && count % 1_000_000 === 0 && ["es", "fr", "pt"].includes(locale) ? "many" : "other";
    }
  }
}
