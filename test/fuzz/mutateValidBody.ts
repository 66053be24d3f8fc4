import type { SeededRandom } from "./seededRandom.ts";
import { generateJson, generateText } from "./generateText.ts";

// Bodies that an operation takes, and then one thing in them is otherwise: these get past the first look, to where money is.

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** What an operation can be told of: places that exist. */
export type PayoutTarget = { wallet: string; chainReference: string; token: string; chainId: number };

export type BuildValidBody = (dice: SeededRandom, places: PayoutTarget) => Json;

export const VALID_BODIES: Readonly<Record<string, BuildValidBody>> = {
  "/api/v1/intents": validCreateBody,
  "/api/v1/intents/{id}/source-inbox": (dice, { chainId }) =>
    dice.oneIn(3) ? { namespace: "solana", reference: generateText(dice), mint: generateText(dice) } : { chainId },
  "/api/v1/intents/{id}/view": (_dice, { chainReference, token }) => ({
    selection: { namespace: "eip155", reference: chainReference, tokenAddress: token },
  }),
  "/api/v1/intents/{id}/archive": () => ({}),
};

function validCreateBody(dice: SeededRandom, { wallet, chainReference, token }: PayoutTarget): Json {
  const all: { [name: string]: Json } = {
    merchantReference: `order ${dice.below(9)}`,
    metadata: { order: { lines: [1, "two", null, true], note: "x" }, of: "ü" },
    priceUnits: 1 + dice.below(3),
    oneTime: dice.oneIn(2),
    payoutWallet: wallet,
    payoutNamespace: "eip155",
    payoutChainReference: chainReference,
    payoutTokenAddress: token,
  };
  return Object.fromEntries(Object.entries(all).filter(() => !dice.oneIn(4)));
}

/** The text of a right body in which up to one thing was changed. */
export function mutateValidBody(dice: SeededRandom, right: Json): string {
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
      return replaceOneValue(dice, text);
  }
}

const VALUE = /(?<=[:[,])(?:"(?:[^"\\]|\\.)*"(?!:)|-?\d+|true|false|null|\{\}|\[\])/g;

/** Puts something else in the place of one value, by text, so that it need not be JSON. */
function replaceOneValue(dice: SeededRandom, text: string): string {
  const values = [...text.matchAll(VALUE)];
  if (values.length === 0) return text;
  const { 0: value, index } = dice.pick(values);
  return text.slice(0, index) + replacementFor(dice, value) + text.slice(index + value.length);
}

function replacementFor(dice: SeededRandom, value: string): string {
  if (!value.startsWith('"') || dice.oneIn(3)) return generateJson(dice, 4);
  const text = value.slice(1, -1);
  const place = dice.below(text.length + 1);
  const added = generateText(dice).slice(0, 1 + dice.below(40));
  return JSON.stringify(text.slice(0, place) + added + text.slice(place + dice.below(2)));
}
