import { isDeepStrictEqual } from "node:util";
import type { Db } from "../../src/db/database.ts";

// Accepted values must equal the sent ones in the answer and in the database: no rounded number, no changed text, no
// lost key.

type Fields = Readonly<Record<string, unknown>>;

/** A number by its exact decimal digits instead of the nearest double: sign, digits without outer zeros, exponent. */
class ExactNumber {
  readonly digits: string;

  constructor(source: string) {
    const [, sign = "", whole = "", fraction = "", exponent = "0"] =
      /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(source) ?? [];
    const all = (whole + fraction).replace(/^0+/, "");
    const short = all.replace(/(?<!0)0+$/, "");
    this.digits =
      short === "" ? "0" : `${sign}${short}e${Number(exponent) - fraction.length + all.length - short.length}`;
  }
}

/** Parses JSON and keeps each number exact; JSON.parse alone rounds. */
function parseJsonExactly(text: string): Fields {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === "number" ? new ExactNumber(context?.source ?? "") : value,
  ) as Fields;
}

/** Names the fields that an accepted create lost or changed in its answer or row; undefined when none. */
export async function findEchoMismatch(db: Db, sentBytes: Buffer, answer: string): Promise<string | undefined> {
  let sent: Fields;
  try {
    sent = sentBytes.length === 0 ? {} : parseJsonExactly(new TextDecoder("utf-8", { fatal: true }).decode(sentBytes));
  } catch {
    return "a create was accepted although its body is not JSON";
  }
  const echo = parseJsonExactly(answer);
  const row = await db.root
    .selectFrom("intent")
    .selectAll()
    .where("id", "=", String(echo["intentId"]))
    .executeTakeFirstOrThrow();
  const stored = parseJsonExactly(
    JSON.stringify({
      priceUnits: row.price_units === null ? null : Number(row.price_units),
      oneTime: row.one_time,
      merchantReference: row.merchant_reference,
      metadata: row.metadata,
    }),
  );
  const isFound = echo["created"] === false;
  const names = ["priceUnits", "oneTime", ...(isFound ? [] : ["merchantReference", "metadata"])];
  const expectedValue = (name: string) => sent[name] ?? (name === "oneTime" ? false : null);
  const changed = names.filter((name) =>
    [echo, stored].some((fields) => !isDeepStrictEqual(fields[name], expectedValue(name))),
  );
  changed.push(...changedDestination(sent, echo["payout"] as Fields));
  return changed.length === 0 ? undefined : `accepted, but changed: ${changed.join(", ")}`;
}

/** Answers show the destination in canonical form, so letter case may differ on EVM chains. */
function changedDestination(sent: Fields, payout: Fields): string[] {
  const parts = {
    Namespace: "namespace",
    ChainReference: "chainReference",
    Wallet: "wallet",
    TokenAddress: "tokenAddress",
  };
  return Object.entries(parts)
    .map(([name, part]) => ({ name: `payout${name}`, echoed: String(payout[part]) }))
    .filter(({ name, echoed }) => {
      const sentValue = sent[name] ?? null;
      if (sentValue === null) return false;
      if (sentValue instanceof ExactNumber) return sentValue.digits !== new ExactNumber(echoed).digits;
      return typeof sentValue !== "string" || echoed.toLowerCase() !== sentValue.toLowerCase();
    })
    .map(({ name }) => name);
}
