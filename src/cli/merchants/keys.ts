import type { Command, CommandInput } from "../command.ts";
import { PAGE_OPTIONS, printPage, readPageOptions } from "../listPage.ts";
import { callOnce, CONFIG_OPTION } from "../operatorClient.ts";
import type { ApiKeyOutput } from "../../operator/keyOperations.ts";
import { formatTable, toJson } from "../../operator/process/terminal.ts";

export const keysCreate: Command = {
  name: "keys create",
  summary: "Create an API key and show it once; the database keeps only its hash",
  positionals: [{ name: "accountId", summary: "account id (acct_…)" }],
  options: {
    "expires-in-days": { value: "DAYS", summary: "days until the key expires; default never" },
    scopes: {
      value: "LIST",
      summary: "scopes, separated by commas; default payment_intents:create,checkout:manage",
    },
    default: { value: "NAMESPACE", summary: "binds the key to the account's default destination there: evm or solana" },
    "without-scopes": { summary: "create a key without scopes, to test how the API rejects it" },
    ...CONFIG_OPTION,
  },
  examples: ["tributary keys create acct_3x7… --expires-in-days 90"],
  run: runCreate,
};

export const keysList: Command = {
  name: "keys list",
  summary: "List API keys by id, without their secrets",
  positionals: [{ name: "accountId", summary: "only keys of this account (acct_…)", isOptional: true }],
  options: { ...PAGE_OPTIONS, ...CONFIG_OPTION },
  examples: ["tributary keys list acct_3x7…"],
  run: runList,
};

export const keysRotate: Command = {
  name: "keys rotate",
  summary: "Replace an API key by a new one with the same scopes; both work for an overlap period",
  positionals: [{ name: "keyId", summary: "the third part of the key, or the whole key" }],
  options: {
    "overlap-hours": { value: "HOURS", summary: "hours until the old key expires, 0 to 720; default 24" },
    "expires-in-days": { value: "DAYS", summary: "days until the new key expires; default never" },
    ...CONFIG_OPTION,
  },
  examples: ["tributary keys rotate 4gq1… --overlap-hours 48"],
  run: runRotate,
};

export const keysRevoke: Command = {
  name: "keys revoke",
  summary: "Revoke an API key; every process rejects it within a second",
  positionals: [{ name: "keyId", summary: "the third part of the key, or the whole key" }],
  options: CONFIG_OPTION,
  examples: ["tributary keys revoke 4gq1…"],
  run: runRevoke,
};

async function runCreate(input: CommandInput): Promise<number> {
  const { positionals, values, flags, terminal, asJson } = input;
  const key = await callOnce(input, "keys create", {
    accountId: positionals[0],
    expiresInDays: values["expires-in-days"],
    scopes: values["scopes"],
    withoutScopes: flags.has("without-scopes"),
    default: values["default"],
  });
  if (asJson) terminal.out(toJson(key));
  else {
    terminal.out(key.apiKey);
    terminal.note("Save this key now: it is not shown again.");
  }
  return 0;
}

async function runList(input: CommandInput): Promise<number> {
  const filters = { accountId: input.positionals[0], ...readPageOptions(input) };
  const page = await callOnce(input, "keys list", filters);
  printPage(input, page, (keys) => {
    const rows = keys.map((key) => [
      key.keyId,
      key.accountId,
      key.scopes.join(" ") || "none",
      formatKeyState(key),
      formatMinute(key.createdAt),
      key.lastUsedAt === null ? "never" : formatMinute(key.lastUsedAt),
      key.default ?? "own",
    ]);
    return formatTable(input.terminal, ["key", "account", "scopes", "state", "created", "last used", "default"], rows);
  });
  return 0;
}

function formatKeyState({ state, expiresAt, revokedAt }: ApiKeyOutput): string {
  if (state === "revoked") return `revoked ${formatMinute(revokedAt ?? "")}`;
  if (state === "expired") return `expired ${formatMinute(expiresAt ?? "")}`;
  return expiresAt === null ? "valid" : `valid until ${formatMinute(expiresAt)}`;
}

/** Formats an ISO 8601 time to the minute, the precision of `lastUsedAt`. */
function formatMinute(instant: string): string {
  return `${instant.slice(0, 16).replace("T", " ")}Z`;
}

async function runRotate(input: CommandInput): Promise<number> {
  const { positionals, values, terminal, asJson } = input;
  const rotated = await callOnce(input, "keys rotate", {
    keyId: positionals[0],
    overlapHours: values["overlap-hours"],
    expiresInDays: values["expires-in-days"],
  });
  if (asJson) terminal.out(toJson(rotated));
  else {
    terminal.out(rotated.apiKey);
    terminal.note("Save this key now: it is not shown again.");
    terminal.note(`The old key ${rotated.oldKeyId} works until ${formatMinute(rotated.oldExpiresAt)}.`);
  }
  return 0;
}

async function runRevoke(input: CommandInput): Promise<number> {
  const { positionals, terminal, asJson } = input;
  const revoked = await callOnce(input, "keys revoke", { keyId: positionals[0] });
  terminal.out(asJson ? toJson(revoked) : `${revoked.keyId} is revoked.`);
  return 0;
}
