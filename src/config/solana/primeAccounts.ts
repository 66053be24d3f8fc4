import type { PrimingConfig } from "../config.ts";
import * as rules from "../rules.ts";
import { fieldPath, hasField, readField, readSection, type ConfigSection } from "../section.ts";

const KEYS = ["openTotal", "openPerAccount", "hourlyPerAccount", "keepMinutes"] as const;
/** Each token account locks about 0.0015 SOL now, so that 50 lock less than a tenth of a SOL. */
const DEFAULTS = { openTotal: 50, openPerAccount: 20, hourlyPerAccount: 60, keepMinutes: 120 } as const;
/** Bounds what one look at all of them reads. */
const OPEN_MAX = 200;
const HOURLY_MAX = 1_000;
const KEEP_MINUTES = { min: 5, max: 1_440 } as const;
const MINUTE_MS = 60_000;

/** Reads `primeAccounts`: limits, or `false` for none. Absent means the defaults. Throws ConfigError. */
export function readPriming(chain: ConfigSection): PrimingConfig | undefined {
  const value = chain.fields["primeAccounts"];
  if (value === false) return undefined;
  const given = hasField(chain, "primeAccounts") ? value : {};
  const section = readSection(given, { path: fieldPath(chain, "primeAccounts"), known: KEYS });
  const read = (key: (typeof KEYS)[number], { min, max }: { min: number; max: number }) =>
    readField(section, key, { ...rules.wholeNumber(min, max), fallback: DEFAULTS[key] });
  return {
    openTotal: read("openTotal", { min: 1, max: OPEN_MAX }),
    openPerAccount: read("openPerAccount", { min: 1, max: OPEN_MAX }),
    hourlyPerAccount: read("hourlyPerAccount", { min: 1, max: HOURLY_MAX }),
    keepMs: read("keepMinutes", KEEP_MINUTES) * MINUTE_MS,
  };
}
