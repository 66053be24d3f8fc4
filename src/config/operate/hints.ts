import { HINT_PROVIDERS, type HintSource, type ProcessEnvironment } from "../config.ts";
import { Secret } from "../../kernel/secret.ts";
import * as rules from "../rules.ts";
import {
  ConfigError,
  fieldPath,
  hasField,
  quoteSource,
  readField,
  readList,
  readSection,
  rejectDuplicates,
  type ConfigSection,
} from "../section.ts";

const HINT_KEYS = ["provider", "secretEnv"] as const;

/** Reads a chain's `hints`; empty without. */
export function readHints(chain: ConfigSection, variables: ProcessEnvironment): HintSource[] {
  if (!hasField(chain, "hints")) return [];
  const sources = readList(chain, "hints", (value, path) => readSource(value, path, variables));
  rejectDuplicates(sources, { path: fieldPath(chain, "hints"), key: "provider", of: ({ provider }) => provider });
  return sources;
}

function readSource(value: unknown, path: string, variables: ProcessEnvironment): HintSource {
  const section = readSection(value, { path, known: HINT_KEYS });
  const provider = readField(section, "provider", rules.oneOf(...HINT_PROVIDERS));
  const name = readField(section, "secretEnv", rules.environmentVariable);
  const text = variables[name]?.trim();
  if (text === undefined || text === "") return { provider, secret: undefined };
  if (!/^[ -~]{16,500}$/.test(text))
    throw new ConfigError(
      `${fieldPath(section, "secretEnv")}: the environment variable ${quoteSource(name)} does not hold a secret of 16 to 500 visible characters.`,
    );
  return { provider, secret: new Secret(text) };
}
