import { textDirection, type Locale } from "./messages/locales.ts";
import type { Messages, PluralKey, TextKey } from "./messages/messages.ts";
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
  // Made when a text first needs them: on a slow phone each takes as long as drawing the page.
  let made: { rules: Intl.PluralRules; numbers: Intl.NumberFormat } | undefined;
  const plurals = () =>
    (made ??= {
      rules: new Intl.PluralRules(locale),
      numbers: new Intl.NumberFormat(locale, { numberingSystem: "latn" }),
    });
  const pluralText = (key: PluralKey, count: number): string => {
    const forms: Readonly<Record<string, string>> = messages[key];
    return forms[plurals().rules.select(count)] ?? messages[key].other;
  };
  const isolate = (value: string) => (direction === "rtl" ? `\u2068${value}\u2069` : value);
  const fillText = (template: string, values: Readonly<Record<string, string>>): string =>
    template.replace(/\{(\w+)\}/g, (whole, name: string) => (name in values ? isolate(values[name] ?? "") : whole));
  return {
    locale,
    direction,
    text: (key, values = {}) => fillText(messages[key], values),
    rich: (key, values = {}) => fillRich(messages[key], values),
    plural: (key, count, values = {}) =>
      fillText(pluralText(key, count), { n: plurals().numbers.format(count), ...values }),
    richPlural: (key, count, values = {}) =>
      fillRich(pluralText(key, count), { n: plurals().numbers.format(count), ...values }),
  };
}

function fillRich(template: string, values: Values): Child[] {
  return template.split(/\{(\w+)\}/g).map((part, index) => {
    if (index % 2 === 0) return part;
    const value = values[part];
    return typeof value === "string" ? h("bdi", {}, value) : value;
  });
}
