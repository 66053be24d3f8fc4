import { addMember as addTeamMember, removeMember as removeTeamMember } from "../../dashboard/members.ts";
import { listMemberRows, type MemberRow } from "../../dashboard/memberStore.ts";
import { displayAddress } from "../../kernel/caip.ts";
import { getAccount } from "./getAccount.ts";
import { optionalText, requiredText } from "../operation/inputFields.ts";
import { defineOperatorOperation } from "../operation/operatorOperation.ts";

export type MemberOutput = {
  memberId: string;
  accountId: string;
  wallet: string;
  role: string;
  name: string | null;
  createdAt: string;
};

export const addMember = defineOperatorOperation({
  effect: "write",
  input: { accountId: requiredText, wallet: requiredText, role: optionalText, name: optionalText },
  async run(world, { accountId, wallet, role = "owner", name }): Promise<MemberOutput> {
    return toOutput(await addTeamMember(world, { accountId, wallet, role, name }, "operator"));
  },
});

export const listMembers = defineOperatorOperation({
  effect: "read",
  input: { accountId: requiredText },
  async run(world, { accountId }): Promise<MemberOutput[]> {
    await getAccount(world, accountId);
    return (await listMemberRows(world.db.root, accountId)).map(toOutput);
  },
});

export const removeMember = defineOperatorOperation({
  effect: "write",
  input: { accountId: requiredText, memberId: requiredText },
  async run(world, given) {
    await removeTeamMember(world, given, "operator");
    return given;
  },
});

function toOutput(row: MemberRow): MemberOutput {
  return {
    memberId: row.id,
    accountId: row.account_id,
    wallet: displayAddress(`${row.namespace}:1`, row.wallet),
    role: row.role,
    name: row.name,
    createdAt: row.created_at.toISOString(),
  };
}
