import { operatorCommand, operatorListCommand } from "../operatorCommand.ts";
import type { ApiKeyOutput } from "../../operator/keyOperations.ts";
import { formatTable } from "../../operator/process/terminal.ts";

const SAVE_KEY = "Save this key now: it is not shown again.";

export const keysCreate = operatorCommand({
  operation: "keys create",
  summary: "create an API key and show it once",
  help: "Create an API key and show it once; the database keeps only its hash",
  positionals: [{ name: "accountId", summary: "account id (acct_…)" }],
  options: {
    "expires-in-days": { value: "DAYS", summary: "days until the key expires; default never" },
    scopes: {
      value: "LIST",
      summary: "scopes, separated by commas; default payment_intents:create,checkout:manage",
    },
    default: { value: "NAMESPACE", summary: "binds the key to the account's default destination there: evm or solana" },
    "without-scopes": { summary: "create a key without scopes, to test how the API rejects it" },
  },
  examples: ["tributary keys create acct_3x7… --expires-in-days 90"],
  print: ({ apiKey }) => [apiKey],
  note: (_key, { asJson }) => (asJson ? [] : [SAVE_KEY]),
});

export const keysList = operatorListCommand({
  operation: "keys list",
  summary: "list API keys",
  help: "List API keys by id, without their secrets",
  positionals: [{ name: "accountId", summary: "only keys of this account (acct_…)", isOptional: true }],
  examples: ["tributary keys list acct_3x7…"],
  printRows: (keys, { terminal }) => {
    const rows = keys.map((key) => [
      key.keyId,
      key.accountId,
      key.scopes.join(" ") || "none",
      formatKeyState(key),
      formatMinute(key.createdAt),
      key.lastUsedAt === null ? "never" : formatMinute(key.lastUsedAt),
      key.default ?? "own",
    ]);
    return formatTable(terminal, ["key", "account", "scopes", "state", "created", "last used", "default"], rows);
  },
});

export const keysRotate = operatorCommand({
  operation: "keys rotate",
  summary: "replace an API key; both work for an overlap period",
  help: "Replace an API key by a new one with the same scopes; both work for an overlap period",
  positionals: [{ name: "keyId", summary: "the third part of the key, or the whole key" }],
  options: {
    "overlap-hours": { value: "HOURS", summary: "hours until the old key expires, 0 to 720; default 24" },
    "expires-in-days": { value: "DAYS", summary: "days until the new key expires; default never" },
  },
  examples: ["tributary keys rotate 4gq1… --overlap-hours 48"],
  print: ({ apiKey }) => [apiKey],
  note: ({ oldKeyId, oldExpiresAt }, { asJson }) =>
    asJson ? [] : [SAVE_KEY, `The old key ${oldKeyId} works until ${formatMinute(oldExpiresAt)}.`],
});

export const keysRevoke = operatorCommand({
  operation: "keys revoke",
  summary: "revoke an API key",
  help: "Revoke an API key; every process rejects it within a second",
  positionals: [{ name: "keyId", summary: "the third part of the key, or the whole key" }],
  examples: ["tributary keys revoke 4gq1…"],
  print: ({ keyId }) => [`${keyId} is revoked.`],
});

function formatKeyState({ state, expiresAt, revokedAt }: ApiKeyOutput): string {
  if (state === "revoked") return `revoked ${formatMinute(revokedAt ?? "")}`;
  if (state === "expired") return `expired ${formatMinute(expiresAt ?? "")}`;
  return expiresAt === null ? "valid" : `valid until ${formatMinute(expiresAt)}`;
}

/** Formats an ISO 8601 time to the minute, the precision of `lastUsedAt`. */
function formatMinute(instant: string): string {
  return `${instant.slice(0, 16).replace("T", " ")}Z`;
}
