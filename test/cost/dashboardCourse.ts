import assert from "node:assert/strict";
import { sql } from "kysely";
import { searchPayments } from "../../src/http/dashboard/searchPayments.ts";
import { addMember, changeRole, removeMember } from "../../src/dashboard/members.ts";
import { applyDueChanges, proposePayoutChange, stopPayoutChange } from "../../src/dashboard/payoutChange.ts";
import { openMemberSession, purgeSessions } from "../../src/dashboard/session.ts";
import { createDashboardCode, openLinkSession } from "../../src/dashboard/signIn/dashboardLink.ts";
import { createChallenge, openWalletSession, purgeChallenges } from "../../src/dashboard/signIn/walletSignIn.ts";
import { readRowProblems } from "../../src/health/rowProblems.ts";
import { purgeSettlementDays, updateSettlementDays } from "../../src/settlement/days/settlementDays.ts";
import { createEndpoint, getEndpoint } from "../../src/webhook/endpoint/manageEndpoints.ts";
import { redeliver, sendTest } from "../../src/webhook/redeliver.ts";
import { assignEventSequences } from "../../src/event/assignEventSequences.ts";
import { randomAddress } from "../support/intents.ts";
import { TEST_CHAIN_CONFIG } from "../support/stationWorld.ts";
import type { CostWorld } from "./costWorld.ts";

// Every page of the dashboard, every search, and what its forms change.

const HOUR_MS = 3_600_000;

export async function openDashboard({ road, get, busy }: CostWorld): Promise<void> {
  const { world } = road;
  const accountId = busy.account_id;
  await assignEventSequences(world);
  const member = await addMember(world, { accountId, wallet: randomAddress(), role: "owner" }, "operator");
  const other = await addMember(world, { accountId, wallet: randomAddress(), role: "reader" }, "operator");
  await changeRole(world, { accountId, memberId: other.id, role: "developer" }, "operator");
  const { nonce } = await createChallenge(world, member.wallet);
  await assert.rejects(openWalletSession(world, { nonce, signature: "00" }, async () => false));
  const cookie = `tributary_dashboard=${await openMemberSession(world, { accountId, memberId: member.id })}`;
  const endpoint = await createEndpoint(world, { accountId, input: { url: "https://shop.example/hook" } });
  const key = { accountId, endpointId: endpoint.id };
  await sendTest(world, key);
  const { rows } = await sql<{ sequence: bigint; id: string; sender: string; tx: string }>`
    select (select max(last_sequence) from event_counter) as sequence, deposit.id, deposit.sender, movement.chain_tx as tx
    from deposit join movement on movement.intent_id = deposit.intent_id where deposit.intent_id = ${busy.id} limit 1`.execute(
    world.db.root,
  );
  const [row] = rows;
  assert.ok(row);
  await redeliver(world, key, { fromSequence: row.sequence, toSequence: row.sequence });
  await getEndpoint(world, key);
  const searches = [busy.id, busy.inbox_address, row.id, row.sender, row.tx, "order", "nothing"];
  const pages = [
    "",
    "?status=active",
    "?paymentStatus=paid",
    "?merchantReference=order",
    "?createdAfter=2020-01-01",
    `/payments/${busy.id}`,
    "/payments.csv?merchantReference=order",
    `?chain=${TEST_CHAIN_CONFIG.caip2}&paymentStatus=unpaid`,
    "?priceMin=999999999",
    "?priceMin=1&priceMax=2&merchantReference=order",
    "/settlements",
    "/accounts",
    "/checkout",
    "/checkout/preview?accent=%23ff0000",
    "/webhooks",
    `/webhooks/${endpoint.id}`,
    "/events",
    "/keys",
    "/team",
    "/payout",
    "/audit",
  ];
  for (const page of pages) await get(`/dashboard${page}`, { cookie });
  for (const text of searches) await searchPayments(world, accountId, text);
  const chainReference = String(TEST_CHAIN_CONFIG.chainId);
  const payout = { namespace: "eip155", chainReference, wallet: randomAddress(), currency: "USDC" } as const;
  const proposal = { accountId, change: { payout } };
  const { code } = await createDashboardCode(world, member.id);
  await openLinkSession(world, code);
  await updateSettlementDays(world);
  await purgeSettlementDays(world, 100);
  const stopped = await proposePayoutChange(world, proposal, "operator");
  await readRowProblems(world);
  await stopPayoutChange(world, { accountId, changeId: stopped.id }, `member ${other.id}`);
  const recovery = { recovery: randomAddress() };
  await proposePayoutChange(world, { accountId, change: recovery }, "operator");
  road.passTime(HOUR_MS);
  assert.equal(await applyDueChanges(world), 1);
  await removeMember(world, { accountId, memberId: other.id }, "operator");
  road.passTime(24 * HOUR_MS);
  for (const kind of ["key", "member"] as const) await purgeSessions(world, { kind, limit: 100 });
  await purgeChallenges(world, 100);
}
