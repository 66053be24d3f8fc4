import { formatTable } from "../../operator/process/terminal.ts";
import { operatorCommand } from "../operatorCommand.ts";

const ACCOUNT = { name: "accountId", summary: "account id (acct_…)" } as const;
const ORIGIN = { name: "origin", summary: "origin of the website, such as https://shop.example" } as const;

export const pageOriginsAdd = operatorCommand({
  operation: "accounts origins add",
  summary: "allow a website to embed an account's checkout",
  help: "Allow a website to embed the checkout of an account's intents",
  positionals: [ACCOUNT, ORIGIN],
  examples: ["tributary accounts origins add acct_3x7… https://shop.example"],
  print: ({ origin, accountId }) => [`Pages of ${origin} may embed the checkout of ${accountId}.`],
});

export const pageOriginsRemove = operatorCommand({
  operation: "accounts origins remove",
  summary: "stop a website from embedding an account's checkout",
  help: "Stop a website from embedding the checkout of an account's intents",
  positionals: [ACCOUNT, ORIGIN],
  examples: ["tributary accounts origins remove acct_3x7… https://shop.example"],
  print: ({ origin, accountId }) => [`Pages of ${origin} may no longer embed the checkout of ${accountId}.`],
});

export const pageOriginsList = operatorCommand({
  operation: "accounts origins list",
  summary: "list the websites that may embed an account's checkout",
  help: "List the websites that may embed an account's checkout; an empty list allows none",
  positionals: [ACCOUNT],
  examples: ["tributary accounts origins list acct_3x7…"],
  print: (origins, { terminal }) =>
    formatTable(
      terminal,
      ["page origin"],
      origins.map((origin) => [origin]),
    ),
});
