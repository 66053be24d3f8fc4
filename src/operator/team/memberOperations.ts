import { createDashboardCode } from "../../dashboard/signIn/dashboardLink.ts";
import { addMember as addTeamMember, removeMember as removeTeamMember } from "../../dashboard/members.ts";
import { listMemberRows, type MemberRow } from "../../dashboard/memberStore.ts";
import { caip10, displayAddress } from "../../kernel/caip.ts";
import { CommandError } from "../errors.ts";
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

/** A link that signs a member in once. */
export type MemberLinkOutput = { url: string; memberId: string; expiresAt: string };

export const linkMember = defineOperatorOperation({
  effect: "write",
  input: { accountId: requiredText, memberId: optionalText },
  async run(world, { accountId, memberId }): Promise<MemberLinkOutput> {
    const { environment, baseUrl } = world.config;
    if (environment !== "test")
      throw new CommandError("Links sign in on a test installation only. Here members sign in by their wallets.");
    await getAccount(world, accountId);
    const members = await listMemberRows(world.db.root, accountId);
    const member = members.find(({ id, role }) => (memberId === undefined ? role === "owner" : id === memberId));
    if (member === undefined)
      throw new CommandError(
        memberId === undefined ? "The account has no owner: tributary members add adds one." : "No such member.",
      );
    const { code, expiresAt } = await createDashboardCode(world, member.id);
    const url = `${baseUrl}/dashboard/sign-in/link?code=${code}`;
    return { url, memberId: member.id, expiresAt: expiresAt.toISOString() };
  },
});

function toOutput(row: MemberRow): MemberOutput {
  return {
    memberId: row.id,
    accountId: row.account_id,
    wallet: row.chain === null ? displayAddress(`${row.namespace}:1`, row.wallet) : caip10(row.chain, row.wallet),
    role: row.role,
    name: row.name,
    createdAt: row.created_at.toISOString(),
  };
}
