import type { Dice } from "./dice.ts";
import { anyJson, anyText } from "./texts.ts";

// Bodies that an operation takes, and then one thing in them is otherwise: these get past the first look, to where money is.

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** What an operation can be told of: places that exist. */
export type Places = { wallet: string; chainReference: string; token: string; chainId: number };

export type RightBody = (dice: Dice, places: Places) => Json;

export const RIGHT_BODIES: Readonly<Record<string, RightBody>> = {
  "/api/v1/intents": rightCreate,
  "/api/v1/intents/{id}/source-inbox": (dice, { chainId }) =>
    dice.once(3) ? { namespace: "solana", reference: anyText(dice), mint: anyText(dice) } : { chainId },
  "/api/v1/intents/{id}/view": (_dice, { chainReference, token }) => ({
    selection: { namespace: "eip155", reference: chainReference, tokenAddress: token },
  }),
  "/api/v1/intents/{id}/archive": () => ({}),
};

function rightCreate(dice: Dice, { wallet, chainReference, token }: Places): Json {
  const all: { [name: string]: Json } = {
    merchantReference: `order ${dice.below(9)}`,
    metadata: { order: { lines: [1, "two", null, true], note: "x" }, of: "ü" },
    priceUnits: 1 + dice.below(3),
    oneTime: dice.once(2),
    payoutWallet: wallet,
    payoutNamespace: "eip155",
    payoutChainReference: chainReference,
    payoutTokenAddress: token,
  };
  return Object.fromEntries(Object.entries(all).filter(() => !dice.once(4)));
}

/** The text of a right body in which up to one thing was changed. */
export function nearlyRight(dice: Dice, right: Json): string {
  const text = JSON.stringify(right);
  switch (dice.below(9)) {
    case 0:
      return text;
    case 1:
      return `${text}${" ".repeat(dice.below(70_000))}`;
    case 2:
      return `${dice.pick(["\ufeff", " ", "\n", "\0", "[", ")]}',\n"])}${text}`;
    case 3:
      // A name twice, or written in another way.
      return text.replace(/"(\w+)":/, (field, name: string) =>
        dice.pick([`${field}null,${field}`, `"${name.toUpperCase()}":`, `" ${name}":`, `"\\u0070${name.slice(1)}":`]),
      );
    default:
      return replaceOne(dice, text);
  }
}

const VALUE = /(?<=[:[,])(?:"(?:[^"\\]|\\.)*"(?!:)|-?\d+|true|false|null|\{\}|\[\])/g;

/** Puts something else in the place of one value, by text, so that it need not be JSON. */
function replaceOne(dice: Dice, text: string): string {
  const values = [...text.matchAll(VALUE)];
  if (values.length === 0) return text;
  const { 0: value, index } = dice.pick(values);
  return text.slice(0, index) + instead(dice, value) + text.slice(index + value.length);
}

function instead(dice: Dice, value: string): string {
  if (!value.startsWith('"') || dice.once(3)) return anyJson(dice, 4);
  const text = value.slice(1, -1);
  const place = dice.below(text.length + 1);
  const added = anyText(dice).slice(0, 1 + dice.below(40));
  return JSON.stringify(text.slice(0, place) + added + text.slice(place + dice.below(2)));
}
