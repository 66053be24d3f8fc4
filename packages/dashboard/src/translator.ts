import type { Locale } from "@tributary/checkout/locales";
import { pluralCategory } from "@tributary/checkout/pluralCategory";
import { h, type Child } from "@tributary/checkout/vnode";

/** The texts of one page in one language. A text whose words depend on a number has one form for each plural category. */
export type Messages = Readonly<Record<string, string | PluralForms>>;
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>>> & { readonly other: string };

type KeysOf<M extends Messages, Form> = { [Key in keyof M]: M[Key] extends Form ? Key : never }[keyof M] & string;
export type TextKey<M extends Messages> = KeysOf<M, string>;
export type PluralKey<M extends Messages> = KeysOf<M, PluralForms>;

/** Fills placeholders in braces. `rich` takes elements as values, and isolates the direction of texts. */
export type Translator<M extends Messages> = {
  readonly locale: Locale;
  text(key: TextKey<M>, values?: Readonly<Record<string, string | number>>): string;
  rich(key: TextKey<M>, values: Readonly<Record<string, Child>>): Child[];
  /** A text whose words depend on `count`, which fills `{n}`. */
  plural(key: PluralKey<M>, count: number, values?: Readonly<Record<string, string>>): string;
};

export function createTranslator<M extends Messages>(locale: Locale, messages: M): Translator<M> {
  const fill = (template: string, values: Readonly<Record<string, string | number>>) =>
    template.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
  return {
    locale,
    text: (key, values = {}) => fill(messages[key] as string, values),
    rich: (key, values) =>
      (messages[key] as string).split(/\{(\w+)\}/g).map((part, index): Child => {
        if (index % 2 === 0) return part;
        const value = values[part];
        return typeof value === "string" ? h("bdi", {}, value) : value;
      }),
    plural(key, count, values = {}) {
      const forms = messages[key] as PluralForms;
      return fill(forms[pluralCategory(locale, count)] ?? forms.other, { n: count, ...values });
    },
  };
}
