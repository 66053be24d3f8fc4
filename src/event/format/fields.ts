import { checksumAddress } from "@tributary/inbox/checksum";
import type { Hex } from "@tributary/inbox/terms";
import { assert } from "../../kernel/assert.ts";
import { addMs } from "../../kernel/clock.ts";
import type { Field, FieldContext, Stored } from "./format.ts";
import type { PinnedIntent } from "./pinnedIntent.ts";

// The kinds of fields. Each stores its value in few bytes and shows exactly the same value again; what does not have
// the usual form is stored as it is. Like the formats that use them, they never change.

/** Marks a value that stands for hexadecimal digits, in base64url. No shown value begins with it. */
const BYTES = ".";
/** Marks the same of an EVM address, which is shown with its checksum. */
const ADDRESS = "'";

export function constant(name: string, value: string | boolean): Field {
  return { name, show: () => value };
}

/** A field that follows from the pinned columns of the intent. */
export function pinned(name: string, show: (intent: PinnedIntent) => unknown): Field {
  return { name, show: (_, { intent }) => show(requireIntent(intent)) };
}

/** A field that follows from others. */
export function derived(name: string, show: (context: FieldContext) => unknown): Field {
  return { name, show: (_, context) => show(context) };
}

/** A number, a text, or null, as it is. */
export function plain(name: string): Field {
  return { name, store: toStored, show: (stored) => stored };
}

/** The same; it is left out where it is missing. */
export function optional(name: string): Field {
  return { name, store: (value) => toStored(value ?? null), show: (stored) => stored ?? undefined };
}

export function flag(name: string): Field {
  return { name, store: (value) => (value === true ? 1 : 0), show: (stored) => stored === 1 };
}

/** One of a list of texts, by its position. */
export function oneOf(name: string, texts: readonly string[]): Field {
  return {
    name,
    store: (value) => {
      const position = typeof value === "string" ? texts.indexOf(value) : -1;
      return position === -1 ? toStored(value) : position;
    },
    show: (stored) => (typeof stored === "number" ? texts[stored] : stored),
  };
}

/** An id, without its prefix; or null. */
export function id(name: string, prefix: string): Field {
  return {
    name,
    store: (value) => {
      if (value === null) return null;
      assert(typeof value === "string" && value.startsWith(prefix), `${name} begins with ${prefix}`);
      return value.slice(prefix.length);
    },
    show: (stored) => (stored === null ? null : `${prefix}${showText(stored)}`),
  };
}

/** An amount: an integer as a text. */
export function amount(name: string): Field {
  return { name, store: storeAmount, show: showAmount };
}

/** A time in ISO 8601, as the milliseconds until the event; or null. */
export function time(name: string): Field {
  return {
    name,
    store: (value, atMs) => (typeof value === "string" ? atMs - Date.parse(value) : null),
    show: (stored, { at }) => (stored === null ? null : addMs(at, -Number(stored)).toISOString()),
  };
}

/** A hash or an address. */
export function bytes(name: string): Field {
  return { name, store: storeBytes, show: showBytes };
}

export function storeAmount(value: unknown): Stored {
  if (typeof value !== "string") return toStored(value);
  const number = Number(value);
  return Number.isSafeInteger(number) && String(number) === value ? number : value;
}

export function showAmount(stored: Stored): string | null {
  return stored === null ? null : showText(stored);
}

export function storeBytes(value: unknown): Stored {
  if (typeof value !== "string") return toStored(value);
  const lower = value.toLowerCase();
  if (!/^0x(?:[0-9a-f]{2})+$/.test(lower)) return value;
  const packed = Buffer.from(lower.slice(2), "hex").toString("base64url");
  if (value === lower) return `${BYTES}${packed}`;
  return value === checksumOf(lower) ? `${ADDRESS}${packed}` : value;
}

export function showBytes(stored: Stored): Stored {
  if (typeof stored !== "string") return stored;
  const digits = () => `0x${Buffer.from(stored.slice(1), "base64url").toString("hex")}` as const;
  if (stored.startsWith(BYTES)) return digits();
  return stored.startsWith(ADDRESS) ? checksumAddress(digits()) : stored;
}

/**
 * `<chain>/<kind>:<address>` of CAIP-19, or `<chain>:<address>` of CAIP-10: what follows the last colon is stored as
 * bytes.
 */
export function asset(name: string): Field {
  return {
    name,
    store: (value) => {
      const text = String(value);
      const end = text.lastIndexOf(":") + 1;
      return [text.slice(0, end), storeBytes(text.slice(end))];
    },
    show: (stored) => {
      const [start = "", address = ""] = Array.isArray(stored) ? (stored as Stored[]) : [];
      return `${showText(start)}${showText(showBytes(address))}`;
    },
  };
}

export function requireIntent(intent: PinnedIntent | undefined): PinnedIntent {
  assert(intent !== undefined, "an event of an intent is shown without it");
  return intent;
}

export function toStored(value: unknown): Stored {
  return value === undefined ? null : (value as Stored);
}

export function showText(stored: Stored): string {
  assert(typeof stored === "string" || typeof stored === "number", "an event stores no text where it shows one");
  return String(stored);
}

function checksumOf(lower: string): string | undefined {
  return /^0x[0-9a-f]{40}$/.test(lower) ? checksumAddress(lower as Hex) : undefined;
}
