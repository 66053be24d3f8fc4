import type { Command, CommandInput } from "./command.ts";
import { askOnce, CONFIG_OPTION } from "./operator.ts";
import type { ShownKey } from "./operations/keys.ts";
import { table, toJson } from "./terminal.ts";

export const keysCreate: Command = {
  name: "keys create",
  summary: "Create an API key; it is shown this once and kept only as a hash",
  positionals: [{ name: "accountId", summary: "whose key it is, acct_…" }],
  options: {
    "expires-in-days": { value: "DAYS", summary: "refuse it after so many days; never when left out" },
    "without-scopes": { summary: "a key that may do nothing, to see how that is refused" },
    ...CONFIG_OPTION,
  },
  examples: ["tributary keys create acct_3x7… --expires-in-days 90"],
  run: runCreate,
};

export const keysList: Command = {
  name: "keys list",
  summary: "List API keys by their ids, without their secrets",
  positionals: [{ name: "accountId", summary: "only this account's", isOptional: true }],
  options: CONFIG_OPTION,
  examples: ["tributary keys list acct_3x7…"],
  run: runList,
};

export const keysRevoke: Command = {
  name: "keys revoke",
  summary: "Revoke an API key; it is refused from the next request on",
  positionals: [{ name: "keyId", summary: "the third part of the key, or the whole key" }],
  options: CONFIG_OPTION,
  examples: ["tributary keys revoke 4gq1…"],
  run: runRevoke,
};

async function runCreate(input: CommandInput): Promise<number> {
  const { positionals, text, switches, terminal, asJson } = input;
  const key = (await askOnce(input, "keys create", {
    accountId: positionals[0],
    expiresInDays: text["expires-in-days"],
    withoutScopes: switches.has("without-scopes"),
  })) as { keyId: string; apiKey: string };
  if (asJson) terminal.out(toJson(key));
  else {
    terminal.out(key.apiKey);
    terminal.note("Keep it now: it is not shown again.");
  }
  return 0;
}

async function runList(input: CommandInput): Promise<number> {
  const { positionals, terminal, asJson } = input;
  const keys = (await askOnce(input, "keys list", { accountId: positionals[0] })) as ShownKey[];
  if (asJson) terminal.out(toJson(keys));
  else {
    const rows = keys.map((key) => [
      key.keyId,
      key.accountId,
      key.scopes.join(" ") || "none",
      stateOf(key),
      key.lastUsedAt ?? "never",
    ]);
    for (const line of table(terminal, ["key", "account", "scopes", "state", "last used"], rows)) terminal.out(line);
  }
  return 0;
}

function stateOf(key: ShownKey): string {
  if (key.revokedAt !== null) return `revoked ${key.revokedAt}`;
  return key.expiresAt === null ? "valid" : `until ${key.expiresAt}`;
}

async function runRevoke(input: CommandInput): Promise<number> {
  const { positionals, terminal, asJson } = input;
  const revoked = (await askOnce(input, "keys revoke", { keyId: positionals[0] })) as { keyId: string };
  terminal.out(asJson ? toJson(revoked) : `${revoked.keyId} is revoked.`);
  return 0;
}
