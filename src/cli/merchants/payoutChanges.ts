import type { PayoutChangeOutput } from "../../operator/team/payoutChangeOperations.ts";
import { formatTable } from "../../operator/process/terminal.ts";
import { operatorCommand } from "../operatorCommand.ts";

const ACCOUNT = { name: "accountId", summary: "account id (acct_…)" } as const;

/** The change in one line. */
export function changeText({ change }: Pick<PayoutChangeOutput, "change">): string {
  return change.map(({ name, value }) => `${name} ${value}`).join(", ");
}

export const payoutChangesList = operatorCommand({
  operation: "accounts payout-changes",
  summary: "list the proposed changes of an account's payout",
  help: "List the changes of an account's payout, the newest first: those that wait, took effect or were stopped",
  positionals: [ACCOUNT],
  examples: ["tributary accounts payout-changes acct_3x7…"],
  print: (changes, { terminal }) =>
    formatTable(
      terminal,
      ["change", "status", "by", "takes effect", "what"],
      changes.map((each) => [
        each.payoutChangeId,
        each.status,
        each.proposedBy,
        each.dueAt ?? "when signed",
        changeText(each),
      ]),
    ),
});

export const payoutChangeStop = operatorCommand({
  operation: "accounts stop-change",
  summary: "stop a change of an account's payout before it takes effect",
  help: "Stop a change of an account's payout before it takes effect",
  positionals: [ACCOUNT, { name: "changeId", summary: "id of the change (poc_…)" }],
  examples: ["tributary accounts stop-change acct_3x7… poc_8d2…"],
  print: ({ payoutChangeId }) => [`${payoutChangeId} is stopped. The payout stays as it is.`],
});
