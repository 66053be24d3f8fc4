import { operatorCommand } from "../operatorCommand.ts";

export const opsLink = operatorCommand({
  operation: "ops link",
  summary: "print a link that opens the operator's page once",
  help: "Print a link that opens the operator's page in one browser, once and within ten minutes; it stays open for 12 hours",
  examples: ["tributary ops link"],
  print: ({ url }) => [url],
  note: ({ expiresAt }) => [`It works once, until ${expiresAt}.`],
});
