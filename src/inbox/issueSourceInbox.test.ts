import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { listEventTypesOf } from "../../test/support/events.ts";
import { openTestDatabase, thoroughDatabase } from "../../test/support/database.ts";
import { pino } from "pino";
import { insertIntent, TEST_TOKEN } from "../../test/support/intents.ts";
import {
  replyAlways,
  BROKEN_BEHAVIOURS,
  GATE_SECRET,
  issueAlways,
  replyToInboxes,
  newSolanaAddress,
  openFakeIssuingGate,
  SLOW_BEHAVIOURS,
  type FakeIssuingGate,
} from "../../test/support/fakeIssuingGate.ts";
import { stationWorld, type StationWorld } from "../../test/support/stationWorld.ts";
import { buildCatalog } from "../catalog/catalog.ts";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { tokenProgram } from "@tributary/inbox/solana/keys";
import {
  SOLANA_PROGRAM,
  CLUSTER,
  MINT,
  OTHER_MINT,
  SOLANA_CHAIN_CONFIG,
  SOLANA_WALLET,
} from "../../test/support/solanaConfig.ts";
import type { EvmChainConfig } from "../config/config.ts";
import type { Db } from "../db/database.ts";
import { archiveIntent } from "../intent/archiveIntent.ts";
import type { IntentRow } from "../intent/store.ts";
import { systemClock } from "../kernel/clock.ts";
import { Fault, type FaultCode } from "../kernel/faults.ts";
import type { World } from "../world.ts";
import { bindCustomers } from "./bindCustomers.ts";
import { issueSourceInbox, type OriginSelector } from "./issueSourceInbox.ts";
import { setOriginEnabled } from "./originSwitch.ts";

const LOCAL = { chainId: 31337 };
const SOLANA = { namespace: "solana", reference: CLUSTER, mint: MINT } as const;

type TestWorld = StationWorld & Pick<World, "gate">;

let db: Db;
let remote: FakeIssuingGate;
let world: TestWorld;

before(async () => {
  [db, remote] = await Promise.all([openTestDatabase(thoroughDatabase), openFakeIssuingGate()]);
  world = stationWorld(db);
});

afterEach(() => {
  remote.setBehaviour(issueAlways());
  remote.requests.length = 0;
});

after(async () => {
  await remote.close();
  await db.close();
});

/** A world with an EVM chain and a Solana cluster of two mints, both with a remote gate. */
function worldWithGate(chain: Partial<EvmChainConfig> = {}): TestWorld {
  const base = stationWorld(db, { gate: "remote", ...chain });
  const config = {
    ...base.config,
    chains: [...base.config.chains, { ...SOLANA_CHAIN_CONFIG, gate: "remote" as const }],
  };
  return { ...base, config, catalog: buildCatalog(config), gate: remote.gate };
}

/** An intent whose customer is not bound; with "solana" it has a Solana payout. */
function createUnboundIntent(payoutOn: "evm" | "solana" = "evm"): Promise<IntentRow> {
  const solanaPayout = {
    payout_namespace: "solana",
    payout_chain_reference: CLUSTER,
    payout_wallet: SOLANA_WALLET,
    payout_token: MINT,
  } as const;
  const created = { created_at: systemClock.now(), customer_bound_at: null };
  return insertIntent(db, { ...created, ...(payoutOn === "solana" ? solanaPayout : {}) });
}

function assertRefused(promise: Promise<unknown>, code: FaultCode): Promise<void> {
  return assert.rejects(promise, { name: "Fault", code });
}

async function listIssuedAddresses(intent: IntentRow): Promise<string[]> {
  const rows = db.root.selectFrom("source_inbox").select(["token", "address"]).where("intent_id", "=", intent.id);
  return (await rows.orderBy("token").execute()).map(({ token, address }) => `${token} ${address}`);
}

test("§4.5.3 repeated and concurrent issues return one address and append one event", async () => {
  const intent = await insertIntent(db);
  const issued = await Promise.all(Array.from({ length: 10 }, () => issueSourceInbox(world, intent, LOCAL)));
  assert.equal(new Set(issued.map((inbox) => inbox.caip10)).size, 1);
  assert.equal(issued[0]?.address.toLowerCase(), intent.inbox_address);
  assert.equal(issued[0]?.caip10, `eip155:31337:${issued[0]?.address}`);
  assert.deepEqual(await listEventTypesOf(db, intent.id), ["source_inbox.issued"]);
});

test("D29 an issued inbox is permanent: settled intent, origin off or removed, gate down", async () => {
  const settles = { one_time: true, price_units: 1n, price_token_units: 1n };
  for (const isSolana of [false, true]) {
    const name = isSolana ? SOLANA : LOCAL;
    const intent = isSolana ? await createUnboundIntent("solana") : await insertIntent(db, settles);
    const first = await issueSourceInbox(worldWithGate(), intent, name);
    const settled = { ...intent, status: "settled" } as const;
    remote.setBehaviour(replyAlways({}, 500));
    assert.deepEqual(await issueSourceInbox(worldWithGate(), settled, name), first);
    assert.deepEqual(await issueSourceInbox(worldWithGate({ tokens: [] }), intent, name), first);
    assert.deepEqual(await issueSourceInbox(stationWorld(db, { tokens: [] }), intent, name), first);
    const origin = worldWithGate().catalog.assets.find((asset) => asset.token === (isSolana ? MINT : TEST_TOKEN));
    assert.ok(origin);
    await setOriginEnabled(world, { origin, isEnabled: false });
    assert.deepEqual(await issueSourceInbox(worldWithGate(), intent, name), first);
    await setOriginEnabled(world, { origin, isEnabled: true });
    remote.setBehaviour(issueAlways());
  }
});

test("D29 the first issue needs a live origin, an active intent and a route to its payout", async () => {
  const intent = await insertIntent(db);
  const unknown: [OriginSelector, string, RegExp][] = [
    [{ chainId: 1 }, "chainId", /No source origin/],
    // The chainId that the list of origins shows for Solana.
    [{ chainId: 103 }, "chainId", /named by namespace, reference and mint/],
    [{ namespace: "solana", reference: "x", mint: "y" }, "reference", /No source origin/],
    [{ namespace: "solana", reference: CLUSTER, mint: TEST_TOKEN }, "mint", /no source origin/],
    [{ namespace: "eip155", reference: "31337", mint: TEST_TOKEN }, "namespace", /named by chainId/],
    [{ namespace: "near", reference: "31337", mint: TEST_TOKEN }, "namespace", /No source origin/],
  ];
  for (const [name, param, message] of unknown) {
    const issuing = issueSourceInbox(worldWithGate(), intent, name);
    await assert.rejects(issuing, { code: "unsupported_origin", param, message });
  }
  const noOrigin = { symbol: "USDC", slug: "usdc", address: TEST_TOKEN, decimals: 6, minimumUnits: 0n, isRail: true };
  const withoutOrigins = stationWorld(db, { tokens: [{ ...noOrigin, isOrigin: false }] });
  await assertRefused(issueSourceInbox(withoutOrigins, intent, LOCAL), "unsupported_origin");
  await assertRefused(issueSourceInbox(world, { ...intent, status: "settled" }, LOCAL), "source_inbox_not_active");
  await assertRefused(issueSourceInbox(worldWithGate(), intent, SOLANA), "source_inbox_not_active");
  await assertRefused(
    issueSourceInbox(world, { ...intent, payout_chain_reference: "1" }, LOCAL),
    "source_inbox_not_active",
  );
  assert.deepEqual(await listIssuedAddresses(intent), []);
});

test("§7.3.3 an origin that is switched off issues no new inbox, in every process from its next call", async () => {
  const [origin] = world.catalog.assets;
  assert.ok(origin);
  const intent = await insertIntent(db);
  const other = stationWorld(db);
  await setOriginEnabled(world, { origin, isEnabled: false });
  await assertRefused(issueSourceInbox(other, intent, LOCAL), "source_inbox_not_active");
  await setOriginEnabled(other, { origin, isEnabled: true });
  await issueSourceInbox(world, intent, LOCAL);
  const configuredOff = {
    tokens: world.config.chains[0]?.tokens.map((token) => ({ ...token, isIssuing: false })) ?? [],
  };
  await assertRefused(
    issueSourceInbox(stationWorld(db, configuredOff), await insertIntent(db), LOCAL),
    "source_inbox_not_active",
  );
});

test("§7.3.3 a chain with a remote gate issues no inbox while no gate is configured", async () => {
  const { gate: _gate, ...without } = worldWithGate();
  await assertRefused(issueSourceInbox(without, await createUnboundIntent(), LOCAL), "source_inbox_not_active");
  await assertRefused(
    issueSourceInbox(without, await createUnboundIntent("solana"), SOLANA),
    "source_inbox_not_active",
  );
});

test("requests to the gate hold intent, chain and mint or address, and authenticate with the secret", async () => {
  const intent = await createUnboundIntent();
  const issued = await issueSourceInbox(worldWithGate(), intent, LOCAL);
  assert.equal(issued.address.toLowerCase(), intent.inbox_address);
  const about = { intentId: intent.id, livemode: false, chain: "eip155:31337" };
  const authorization = `Bearer ${GATE_SECRET}`;
  assert.deepEqual(remote.requests, [
    { kind: "customers", path: `/gate/customers/${intent.id}`, authorization, body: about },
    {
      kind: "inboxes",
      path: `/gate/inboxes/${intent.id}/eip155%3A31337`,
      authorization,
      body: { ...about, token: null, address: intent.inbox_address },
    },
  ]);
  remote.requests.length = 0;
  const onSolana = await createUnboundIntent("solana");
  const { address, caip10 } = await issueSourceInbox(worldWithGate(), onSolana, SOLANA);
  assert.equal(address, onSolana.inbox_address);
  assert.equal(caip10, `solana:${CLUSTER}:${address}`);
  assert.deepEqual(remote.requests[1]?.body, {
    ...about,
    intentId: onSolana.id,
    chain: `solana:${CLUSTER}`,
    token: MINT,
    address,
  });
});

test("§4.5.3 concurrent calls behind a gate return one address", async () => {
  const intent = await createUnboundIntent("solana");
  const all = await Promise.all(Array.from({ length: 8 }, () => issueSourceInbox(worldWithGate(), intent, SOLANA)));
  assert.equal(new Set(all.map(({ address }) => address)).size, 1);
  assert.deepEqual(await listIssuedAddresses(intent), [`${MINT} ${all[0]?.address}`]);
  assert.deepEqual(await issueSourceInbox(worldWithGate(), intent, SOLANA), all[0]);
});

test("after a crash behind the gate's answer the next call repeats the same request", async () => {
  const intent = await createUnboundIntent("solana");
  const crashing: Db = {
    ...db,
    transaction: () => Promise.reject(new Error("the process died")),
  };
  await assert.rejects(issueSourceInbox({ ...worldWithGate(), db: crashing }, intent, SOLANA), /died/);
  const lastRequest = remote.requests.at(-1);
  const { address } = await issueSourceInbox(worldWithGate(), intent, SOLANA);
  assert.deepEqual(remote.requests.at(-1), lastRequest);
  assert.deepEqual(await listIssuedAddresses(intent), [`${MINT} ${address}`]);
});

for (const [name, behaviour] of [...Object.entries(SLOW_BEHAVIOURS), ...Object.entries(BROKEN_BEHAVIOURS)]) {
  test(`§7.3.1 a gate that ${name} is unavailable, and nothing is written`, async () => {
    remote.setBehaviour(behaviour);
    const gate = Object.hasOwn(SLOW_BEHAVIOURS, name) ? remote.gateWithShortTimeout : remote.gate;
    const bound = await insertIntent(db);
    for (const intent of [bound, await createUnboundIntent()]) {
      await assert.rejects(issueSourceInbox({ ...worldWithGate(), gate }, intent, LOCAL), (error) => {
        assert.ok(error instanceof Fault);
        assert.deepEqual([error.code, error.retryAfterS], ["source_inbox_unavailable", 5]);
        return true;
      });
      assert.deepEqual(await listIssuedAddresses(intent), []);
    }
    remote.setBehaviour(issueAlways());
    await issueSourceInbox(worldWithGate(), bound, LOCAL);
  });
}

test("§7.3.2 a refusal of the gate is final, and only the operator sees its reason", async () => {
  const reason = "the customer is on a list";
  const intent = await insertIntent(db);
  remote.setBehaviour(replyToInboxes(() => ({ verdict: "refused", reason })));
  await assert.rejects(issueSourceInbox(worldWithGate(), intent, LOCAL), (error) => {
    assert.ok(error instanceof Fault && error.code === "source_inbox_refused");
    assert.ok(!error.message.includes(reason));
    assert.match(String(error.cause), new RegExp(reason));
    return true;
  });
  remote.setBehaviour(replyAlways({ verdict: "refused", reason }));
  await assertRefused(issueSourceInbox(worldWithGate(), await createUnboundIntent(), LOCAL), "source_inbox_refused");
  remote.setBehaviour(replyToInboxes(() => ({ verdict: "disabled" })));
  await assertRefused(issueSourceInbox(worldWithGate(), intent, LOCAL), "source_inbox_not_active");
});

/** The world with a gate, and the alarms that it logs. */
function worldWithAlarmLog(): { world: TestWorld; alarms: Record<string, unknown>[] } {
  const alarms: Record<string, unknown>[] = [];
  const log = pino({ level: "error" }, { write: (line: string) => void alarms.push(JSON.parse(line)) });
  return { world: { ...worldWithGate(), log }, alarms };
}

test("D11 a wrong address from the gate is refused with an alarm, and nothing is stored", async () => {
  const { world: alarmed, alarms } = worldWithAlarmLog();
  const solanaIntent = await createUnboundIntent("solana");
  const evmIntent = await insertIntent(db);
  const other = await createUnboundIntent("solana");
  const wrongOnEvm = [`0x${"9".repeat(40)}`, newSolanaAddress(), "", "0x", evmIntent.payout_wallet];
  const wrongOnSolana = [
    `0x${"9".repeat(40)}`,
    "",
    "11",
    newSolanaAddress(),
    MINT,
    "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    `${solanaIntent.inbox_address} `,
    solanaIntent.payout_wallet,
    other.inbox_address,
  ];
  const table: [intent: IntentRow, address: string][] = [
    ...wrongOnEvm.map((address): [IntentRow, string] => [evmIntent, address]),
    ...wrongOnSolana.map((address): [IntentRow, string] => [solanaIntent, address]),
  ];
  for (const [intent, address] of table) {
    remote.setBehaviour(replyToInboxes(() => ({ verdict: "issued", address })));
    const name = intent === evmIntent ? LOCAL : SOLANA;
    await assertRefused(issueSourceInbox(alarmed, intent, name), "source_inbox_refused");
    assert.deepEqual(await listIssuedAddresses(intent), [], address);
    const { alarm, level, intent: intentId, address: loggedAddress, wrong: problem } = alarms.pop() ?? {};
    assert.deepEqual([alarm, level, intentId, loggedAddress], ["gate_issued_wrong_address", 50, intent.id, address]);
    assert.match(String(problem), /follows from the intent/);
  }
  assert.deepEqual(alarms, []);
  // A correct address is accepted afterwards.
  remote.setBehaviour(issueAlways());
  await issueSourceInbox(alarmed, solanaIntent, SOLANA);
  assert.equal((await listIssuedAddresses(solanaIntent)).length, 1);
});

test("D29 on Solana the intent's own inbox is issued for its own mint and cluster alone", async () => {
  const base = stationWorld(db);
  const config = { ...base.config, chains: [...base.config.chains, SOLANA_CHAIN_CONFIG] };
  const local = { ...base, config, catalog: buildCatalog(config) };
  const intent = await createUnboundIntent("solana");
  const first = await issueSourceInbox(local, intent, SOLANA);
  assert.deepEqual(await issueSourceInbox(local, intent, SOLANA), first);
  const { tokenAccount = "" } = first;
  assert.deepEqual(first, {
    address: intent.inbox_address,
    caip10: `solana:${CLUSTER}:${intent.inbox_address}`,
    tokenAccount: deriveTokenAccount(intent.inbox_address, MINT, tokenProgram).address,
    mint: MINT,
    program: SOLANA_PROGRAM,
  });
  assert.notEqual(tokenAccount, first.address);
  assert.deepEqual(remote.requests, [], "no gate is asked");
  for (const selector of [{ ...SOLANA, mint: OTHER_MINT }, LOCAL])
    await assertRefused(issueSourceInbox(local, intent, selector), "source_inbox_not_active");
  await assertRefused(issueSourceInbox(local, await insertIntent(db), SOLANA), "source_inbox_not_active");
  assert.deepEqual(await listIssuedAddresses(intent), [`${MINT} ${intent.inbox_address}`]);
});

test("§7.3.4 a customer is bound only after the gate's approval, by the next call or by a round", async () => {
  remote.setBehaviour(replyAlways({ verdict: "pending" }));
  const [called, rounds] = [await createUnboundIntent(), await createUnboundIntent()];
  await assert.rejects(issueSourceInbox(worldWithGate(), called, LOCAL), {
    code: "customer_not_bound",
    retryAfterS: 2,
  });
  await bindCustomers(worldWithGate(), rounds.seq - 1n);
  assert.equal(await readCustomerBoundAt(rounds), null);
  remote.setBehaviour(issueAlways());
  await issueSourceInbox(worldWithGate(), called, LOCAL);
  assert.notEqual(await readCustomerBoundAt(called), null);
  assert.equal(await bindCustomers(worldWithGate(), rounds.seq - 1n), 0n);
  assert.notEqual(await readCustomerBoundAt(rounds), null);
  const requestsBefore = remote.requests.length;
  await bindCustomers(worldWithGate(), rounds.seq - 1n);
  assert.equal(remote.requests.length, requestsBefore, "a round skips bound customers");
});

test("a round stops when the gate is down, and continues past a refused customer", async () => {
  const [first, second] = [await createUnboundIntent(), await createUnboundIntent()];
  remote.setBehaviour(replyAlways({}, 503));
  await assertRefused(bindCustomers(worldWithGate(), first.seq - 1n), "source_inbox_unavailable");
  remote.setBehaviour((request, response) => {
    const verdict = request.body.intentId === first.id ? "refused" : "bound";
    response.end(JSON.stringify({ verdict }));
  });
  await bindCustomers(worldWithGate(), first.seq - 1n);
  assert.equal(await readCustomerBoundAt(first), null);
  assert.notEqual(await readCustomerBoundAt(second), null);
});

test("D3 an intent that is archived during the gate request gets no inbox, and is not found", async () => {
  const intent = await insertIntent(db);
  let archived: Promise<unknown> = Promise.resolve();
  remote.setBehaviour((request, response) => {
    archived = db
      .transaction((tx) => archiveIntent(tx, world, intent.id))
      .then(() => response.end(JSON.stringify({ verdict: "issued", address: request.body.address })));
  });
  await assertRefused(issueSourceInbox(worldWithGate(), intent, LOCAL), "not_found");
  await archived;
  assert.deepEqual(await listIssuedAddresses(intent), []);
  assert.deepEqual(await listEventTypesOf(db, intent.id), ["payment_intent.archived"]);
});

test("no transaction is open during a gate request", async () => {
  const intent = await createUnboundIntent();
  const { gate } = worldWithGate();
  assert.ok(gate);
  // The root handle throws inside a transaction.
  const checkRoot = () => db.root.selectFrom("intent").select("id").where("id", "=", intent.id).execute();
  const watched = {
    ...gate,
    bindCustomer: async (request: Parameters<typeof gate.bindCustomer>[0]) => (
      await checkRoot(),
      gate.bindCustomer(request)
    ),
    issueInbox: async (request: Parameters<typeof gate.issueInbox>[0]) => (await checkRoot(), gate.issueInbox(request)),
  };
  await issueSourceInbox({ ...worldWithGate(), gate: watched }, intent, LOCAL);
});

async function readCustomerBoundAt({ id }: IntentRow): Promise<Date | null> {
  const row = db.root.selectFrom("intent").select("customer_bound_at").where("id", "=", id);
  return (await row.executeTakeFirstOrThrow()).customer_bound_at;
}
