import { parseInstant } from "../kernel/clock.ts";

// One table of decoders for both drivers, from the database's text format, by type OID (pg_type).

type Decoder = (text: string) => unknown;

const asText: Decoder = (text) => text;
const asNumber: Decoder = (text) => Number(text);
const asJson: Decoder = (text): unknown => JSON.parse(text);

/** The decoder for a type OID. Types without an entry stay text. */
export function getDecoder(typeId: number): Decoder {
  return decoders.get(typeId) ?? asText;
}

function asBigint(text: string): bigint {
  // Most totals of most intents.
  if (text === "0") return 0n;
  if (!/^-?\d+$/.test(text)) throw new RangeError(`expected an integer from the database, got ${text}`);
  return BigInt(text);
}

function asBytes(text: string): Uint8Array {
  if (!text.startsWith("\\x")) throw new RangeError("expected bytea_output = hex");
  return new Uint8Array(Buffer.from(text.slice(2), "hex"));
}

/** The offset at the end of a timestamptz: sessions are in UTC. */
const OFFSET = "+00";

function asDate(text: string): Date {
  const instant = parseInstant(`${text.slice(0, 10)}T${text.slice(11, -OFFSET.length)}Z`);
  if (instant === undefined || !text.endsWith(OFFSET))
    throw new RangeError(`expected an instant from the database, got ${text}`);
  return instant;
}

// An array arrives as `{1,NULL,"a \"quoted\" one",{nested}}`. The parser reads it element by element and keeps open
// braces on a stack.
const ELEMENT = /([{}])|"((?:[^"\\]|\\.)*)"|([^,{}"]+)|,/gs;

function arrayDecoder(decode: Decoder): Decoder {
  return (text) => {
    const root: unknown[] = [];
    const open = [root];
    for (const [, brace, quoted, plain] of text.matchAll(ELEMENT)) {
      const innermost = open.at(-1);
      if (innermost === undefined) throw new RangeError(`not an array: ${text}`);
      if (brace === "{") {
        const inner: unknown[] = [];
        innermost.push(inner);
        open.push(inner);
      } else if (brace === "}") open.pop();
      else if (quoted !== undefined) innermost.push(decode(quoted.replace(/\\(.)/gs, "$1")));
      else if (plain !== undefined) innermost.push(plain === "NULL" ? null : decode(plain));
    }
    return root[0];
  };
}

// [type, its array type, parser]
const types: readonly (readonly [number, number, Decoder])[] = [
  [16, 1000, (text) => text === "t"],
  [17, 1001, asBytes],
  [19, 1003, asText], // name
  [20, 1016, asBigint], // int8
  [21, 1005, asNumber], // int2
  [23, 1007, asNumber], // int4
  [25, 1009, asText],
  [26, 1028, asNumber], // oid
  [114, 199, asJson],
  [700, 1021, asNumber], // float4
  [701, 1022, asNumber], // float8
  [1043, 1015, asText], // varchar
  [1184, 1185, asDate], // timestamptz
  [1700, 1231, asBigint], // numeric: only integers are stored
  [3802, 3807, asJson], // jsonb
];

const decoders: ReadonlyMap<number, Decoder> = new Map(
  types.flatMap(([typeId, arrayTypeId, decode]) => [
    [typeId, decode],
    [arrayTypeId, arrayDecoder(decode)],
  ]),
);
