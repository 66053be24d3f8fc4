import type { SeededRandom } from "./seededRandom.ts";
import { generateJson, generateText } from "./generateText.ts";

// Valid bodies with one change, which pass the first checks and reach the money paths.

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** An existing wallet, chain and token. */
export type PayoutTarget = { wallet: string; chainReference: string; token: string; chainId: number };

export type BuildValidBody = (random: SeededRandom, target: PayoutTarget) => Json;

export const VALID_BODIES: Readonly<Record<string, BuildValidBody>> = {
  "/api/v1/intents": validCreateBody,
  "/api/v1/intents/{id}/source-inbox": (random, { chainId }) =>
    random.oneIn(3)
      ? { namespace: "solana", reference: generateText(random), mint: generateText(random) }
      : { chainId },
  "/api/v1/intents/{id}/view": (_dice, { chainReference, token }) => ({
    selection: { namespace: "eip155", reference: chainReference, tokenAddress: token },
  }),
  "/api/v1/intents/{id}/archive": () => ({}),
  "/api/v1/account": (random) => ({
    brand: {
      accent: "#7a1f3d",
      radius: random.below(24),
      font: "Inter, serif",
      logo: "data:image/svg+xml;base64,PHN2ZyB2aWV3Qm94PSIwIDAgMSAxIj48cGF0aCBkPSJNMCAwaDF2MXoiLz48L3N2Zz4=",
    },
    support: random.oneIn(2) ? "help@shop.example" : "https://shop.example/help",
  }),
  "/api/v1/page-origins": (random) => ({
    origins: ["https://shop.example", `http://localhost:${random.below(70_000)}`],
  }),
};

function validCreateBody(random: SeededRandom, { wallet, chainReference, token }: PayoutTarget): Json {
  const all: { [name: string]: Json } = {
    merchantReference: `order ${random.below(9)}`,
    metadata: { order: { lines: [1, "two", null, true], note: "x" }, of: "ü" },
    priceUnits: 1 + random.below(3),
    oneTime: random.oneIn(2),
    payoutWallet: wallet,
    payoutNamespace: "eip155",
    payoutChainReference: chainReference,
    payoutTokenAddress: token,
  };
  return Object.fromEntries(Object.entries(all).filter(() => !random.oneIn(4)));
}

/** Returns a valid body's text with at most one change. */
export function mutateValidBody(random: SeededRandom, validBody: Json): string {
  const text = JSON.stringify(validBody);
  switch (random.below(9)) {
    case 0:
      return text;
    case 1:
      return `${text}${" ".repeat(random.below(70_000))}`;
    case 2:
      return `${random.pick(["\ufeff", " ", "\n", "\0", "[", ")]}',\n"])}${text}`;
    case 3:
      // A repeated or respelled field name.
      return text.replace(/"(\w+)":/, (field, name: string) =>
        random.pick([`${field}null,${field}`, `"${name.toUpperCase()}":`, `" ${name}":`, `"\\u0070${name.slice(1)}":`]),
      );
    default:
      return replaceOneValue(random, text);
  }
}

const VALUE = /(?<=[:[,])(?:"(?:[^"\\]|\\.)*"(?!:)|-?\d+|true|false|null|\{\}|\[\])/g;

/** Replaces one value in the text; the result need not be JSON. */
function replaceOneValue(random: SeededRandom, text: string): string {
  const values = [...text.matchAll(VALUE)];
  if (values.length === 0) return text;
  const { 0: value, index } = random.pick(values);
  return text.slice(0, index) + replacementFor(random, value) + text.slice(index + value.length);
}

function replacementFor(random: SeededRandom, value: string): string {
  if (!value.startsWith('"') || random.oneIn(3)) return generateJson(random, 4);
  const text = value.slice(1, -1);
  const place = random.below(text.length + 1);
  const added = generateText(random).slice(0, 1 + random.below(40));
  return JSON.stringify(text.slice(0, place) + added + text.slice(place + random.below(2)));
}
