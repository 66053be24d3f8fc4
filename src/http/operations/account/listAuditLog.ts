import { auditRecord, listAudit } from "../../../dashboard/auditStore.ts";
import { READ_DASHBOARD } from "../../../merchant/keys/scopes.ts";
import { defineOperation } from "../../operation.ts";
import { toListResponse } from "../../listResponse.ts";
import { readPage } from "../../reads/readPage.ts";
import { auditEntryList } from "../../schema/components.ts";
import { pageExample } from "../../schema/examples.ts";
import { auditEntryExample } from "../../schema/eventExamples.ts";
import { pageQuery } from "../../schema/records/list.ts";

export const listAuditLog = defineOperation({
  operationId: "listAuditLog",
  method: "GET",
  path: "/api/v1/audit-log",
  group: "Account",
  summary: "List who changed what",
  description: `Changes of the team, the keys, the payout and the webhook endpoints that were made in the dashboard, newest first, and the operator's changes of the payout where changes wait.
Entries are permanent: the database refuses to change or delete one.`,
  isExtension: true,
  scopes: [READ_DASHBOARD],
  perMinute: 120,
  query: pageQuery,
  success: {
    status: 200,
    description: "A page of entries.",
    schema: auditEntryList,
    example: pageExample(auditEntryExample),
  },
  faults: ["invalid_cursor"],
  async handle(world, { account, query }) {
    const { rows, hasMore, nextCursor } = await readPage(world, {
      list: "audit_entry",
      owner: account.id,
      ...query,
      readRows: ({ below, limit }) => listAudit(world.db, { accountId: account.id, below, limit }),
      positionOf: ({ number }) => number,
    });
    return { status: 200, body: toListResponse({ records: rows.map(auditRecord), hasMore, nextCursor }) };
  },
});
