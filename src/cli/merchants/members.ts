import { formatFields, formatTable } from "../../operator/process/terminal.ts";
import { operatorCommand } from "../operatorCommand.ts";

const ACCOUNT = { name: "accountId", summary: "account id (acct_…)" } as const;

export const membersAdd = operatorCommand({
  operation: "members add",
  summary: "let a person sign in to an account's dashboard by a wallet",
  help: "Let a person sign in to an account's dashboard by a wallet. An owner adds further members there",
  positionals: [ACCOUNT],
  options: {
    wallet: {
      value: "ADDRESS",
      summary:
        "the person's wallet, on an EVM chain or on Solana; one that is a contract with its chain, such as eip155:8453:0x…",
    },
    role: { value: "ROLE", summary: "owner, developer or reader; default owner" },
    name: { value: "NAME", summary: "whose wallet it is, for people" },
  },
  examples: ["tributary members add acct_3x7… --wallet 0x5aAe… --role owner --name Ada"],
  print: ({ memberId, wallet, role, name }, { terminal }) =>
    formatFields(terminal, [
      ["member", memberId],
      ["wallet", wallet],
      ["role", role],
      ["name", name ?? "none"],
    ]),
});

export const membersList = operatorCommand({
  operation: "members list",
  summary: "list who signs in to an account's dashboard by a wallet",
  help: "List who signs in to an account's dashboard by a wallet",
  positionals: [ACCOUNT],
  examples: ["tributary members list acct_3x7…"],
  print: (members, { terminal }) =>
    formatTable(
      terminal,
      ["member", "role", "name", "wallet", "since"],
      members.map(({ memberId, role, name, wallet, createdAt }) => [memberId, role, name ?? "", wallet, createdAt]),
    ),
});

export const membersRemove = operatorCommand({
  operation: "members remove",
  summary: "end a person's access to an account's dashboard",
  help: "End a person's access to an account's dashboard, at once",
  positionals: [ACCOUNT, { name: "memberId", summary: "member id (mem_…)" }],
  examples: ["tributary members remove acct_3x7… mem_2b9…"],
  print: ({ memberId }) => [`${memberId} can no longer sign in.`],
});

export const membersLink = operatorCommand({
  operation: "members link",
  summary: "print a link that signs a member in once, on a test installation",
  help: "Print a link that signs a member in to the dashboard without a wallet, once and within ten minutes. Only on a test installation",
  positionals: [ACCOUNT, { name: "memberId", summary: "member id (mem_…); default the first owner", isOptional: true }],
  examples: ["tributary members link acct_3x7…"],
  print: ({ url }) => [url],
  note: ({ expiresAt }) => [`It works once, until ${expiresAt}.`],
});
