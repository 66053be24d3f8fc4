import { isDeepStrictEqual } from "node:util";
import type { Db } from "../../src/db/database.ts";

// What was accepted must be what was sent, in the answer and in the database: no number rounded, no text mended, no key lost.

type Fields = Readonly<Record<string, unknown>>;

/** A number by its digits and not by the double that is nearest to it: sign and digits without zeros at either end, and an exponent. */
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

/** JSON with each number as it is written, which JSON.parse alone rounds. */
function parseJsonExactly(text: string): Fields {
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === "number" ? new ExactNumber(context?.source ?? "") : value,
  ) as Fields;
}

/** What an accepted create lost or changed, in its answer or in its row; undefined when nothing. */
export async function findEchoMismatch(db: Db, sentBytes: Buffer, answer: string): Promise<string | undefined> {
  let sent: Fields;
  try {
    sent = sentBytes.length === 0 ? {} : parseJsonExactly(new TextDecoder("utf-8", { fatal: true }).decode(sentBytes));
  } catch {
    return "a create was accepted whose body is no JSON";
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
    [echo, stored].some((kept) => !isDeepStrictEqual(kept[name], expectedValue(name))),
  );
  changed.push(...changedDestination(sent, echo["payout"] as Fields));
  return changed.length === 0 ? undefined : `accepted, and not kept as sent: ${changed.join(", ")}`;
}

/** The parts of the destination are told in their canonical form, which on EVM chains is another case. */
function changedDestination(sent: Fields, payout: Fields): string[] {
  const parts = {
    Namespace: "namespace",
    ChainReference: "chainReference",
    Wallet: "wallet",
    TokenAddress: "tokenAddress",
  };
  return Object.entries(parts)
    .map(([name, part]) => ({ name: `payout${name}`, told: String(payout[part]) }))
    .filter(({ name, told }) => {
      const given = sent[name] ?? null;
      if (given === null) return false;
      if (given instanceof ExactNumber) return given.digits !== new ExactNumber(told).digits;
      return typeof given !== "string" || told.toLowerCase() !== given.toLowerCase();
    })
    .map(({ name }) => name);
}
