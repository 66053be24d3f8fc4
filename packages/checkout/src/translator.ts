import { textDirection, type Locale } from "./messages/locales.ts";
import type { Messages, PluralKey, TextKey } from "./messages/messages.ts";
import { pluralCategory } from "./pluralCategory.ts";
import { h, type Child } from "./vnode.ts";

export type Values = { readonly [placeholder: string]: Child };

/**
 * The messages of one language, filled in. `rich` isolates each value's direction; `text` does so only right to left.
 */
export type Translator = {
  readonly locale: Locale;
  readonly direction: "ltr" | "rtl";
  text(key: TextKey, values?: Readonly<Record<string, string>>): string;
  rich(key: TextKey, values?: Values): Child[];
  /**
   * A text whose words depend on `count`; `{n}` and other placeholders are filled from `values`, `{n}` with the count
   * by default.
   */
  plural(key: PluralKey, count: number, values?: Readonly<Record<string, string>>): string;
  /** The same with elements as values. */
  richPlural(key: PluralKey, count: number, values?: Values): Child[];
};

export function createTranslator(locale: Locale, messages: Messages): Translator {
  const direction = textDirection(locale);
  const pluralText = (key: PluralKey, count: number): string => {
    const forms: Readonly<Record<string, string>> = messages[key];
    return forms[pluralCategory(locale, count)] ?? messages[key].other;
  };
  // A formatter takes a slow phone as long as drawing the page, and a small number needs none.
  const formatCount = (count: number) =>
    count < 1_000 ? String(count) : new Intl.NumberFormat(locale, { numberingSystem: "latn" }).format(count);
  const isolate = (value: string) => (direction === "rtl" ? `\u2068${value}\u2069` : value);
  const fillText = (template: string, values: Readonly<Record<string, string>>): string =>
    template.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? isolate(values[name] ?? "") : whole));
  return {
    locale,
    direction,
    text: (key, values = {}) => fillText(messages[key], values),
    rich: (key, values = {}) => fillRich(messages[key], values),
    plural: (key, count, values = {}) => fillText(pluralText(key, count), { n: formatCount(count), ...values }),
    richPlural: (key, count, values = {}) => fillRich(pluralText(key, count), { n: formatCount(count), ...values }),
  };
}

function fillRich(template: string, values: Values): Child[] {
  return template.split(/\{(\w+)\}/g).map((part, index) => {
    if (index % 2 === 0) return part;
    const value = values[part];
    return typeof value === "string" ? h("bdi", {}, value) : value;
  });
}
