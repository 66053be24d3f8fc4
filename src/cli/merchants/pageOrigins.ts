import type { Command, CommandInput } from "../command.ts";
import { callOnce, CONFIG_OPTION } from "../operatorClient.ts";
import { formatTable, toJson } from "../../operator/process/terminal.ts";

const ACCOUNT = { name: "accountId", summary: "account id (acct_…)" } as const;
const ORIGIN = { name: "origin", summary: "origin of the website, such as https://shop.example" } as const;

export const pageOriginsAdd: Command = {
  name: "accounts origins add",
  summary: "Allow a website to embed the checkout of an account's intents",
  positionals: [ACCOUNT, ORIGIN],
  options: CONFIG_OPTION,
  examples: ["tributary accounts origins add acct_3x7… https://shop.example"],
  run: runAdd,
};

export const pageOriginsRemove: Command = {
  name: "accounts origins remove",
  summary: "Stop a website from embedding the checkout of an account's intents",
  positionals: [ACCOUNT, ORIGIN],
  options: CONFIG_OPTION,
  examples: ["tributary accounts origins remove acct_3x7… https://shop.example"],
  run: runRemove,
};

export const pageOriginsList: Command = {
  name: "accounts origins list",
  summary: "List the websites that may embed an account's checkout; an empty list allows none",
  positionals: [ACCOUNT],
  options: CONFIG_OPTION,
  examples: ["tributary accounts origins list acct_3x7…"],
  run: runList,
};

async function runAdd(input: CommandInput): Promise<number> {
  const { terminal, asJson } = input;
  const added = await callPageOrigins(input, "accounts origins add");
  terminal.out(asJson ? toJson(added) : `Pages of ${added.origin} may embed the checkout of ${added.accountId}.`);
  return 0;
}

async function runRemove(input: CommandInput): Promise<number> {
  const { terminal, asJson } = input;
  const removed = await callPageOrigins(input, "accounts origins remove");
  const message = `Pages of ${removed.origin} may no longer embed the checkout of ${removed.accountId}.`;
  terminal.out(asJson ? toJson(removed) : message);
  return 0;
}

async function runList(input: CommandInput): Promise<number> {
  const { positionals, terminal, asJson } = input;
  const origins = await callOnce(input, "accounts origins list", { accountId: positionals[0] });
  if (asJson) terminal.out(toJson(origins));
  else {
    const rows = origins.map((origin) => [origin]);
    for (const line of formatTable(terminal, ["page origin"], rows)) terminal.out(line);
  }
  return 0;
}

async function callPageOrigins(input: CommandInput, operation: "accounts origins add" | "accounts origins remove") {
  const [accountId, origin] = input.positionals;
  return await callOnce(input, operation, { accountId, origin });
}
