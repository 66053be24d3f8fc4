import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { buildSettle, readonlyMeta } from "@tributary/inbox/solana/instructions";
import { tokenProgram } from "@tributary/inbox/solana/keys";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { ProviderFailed, type Transfer } from "../../src/chain/reader.ts";
import { LOCAL_INBOX_PROGRAM, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { sendLamports } from "../../packages/local-solana/src/instructions.ts";
import { changeResult, startSolanaProxy, type SolanaFault, type SolanaProxy } from "../support/solanaProxy.ts";
import { ReaderScene, USDC } from "../support/solanaInboxes.ts";

// What providers do wrong: the reader finds exactly what happened, or fails. It never finds a part.

const { operator, stranger } = SOLANA_ACCOUNTS;
const LIST = "getSignaturesForAddress";

type Entry = { signature: string; slot: number; err: unknown; confirmationStatus: string };
type Kind = ProviderFailed["kind"];

describe("a faulty provider of a Solana chain", () => {
  let scene: ReaderScene;
  let proxy: SolanaProxy;
  let inbox: SolanaInbox;
  /**
   * Four deposits, a settlement that closes the account, and two deposits into a new one; three of them in one slot.
   */
  let history: readonly Transfer[];
  let settlements: readonly Transfer[];
  before(async () => {
    scene = await ReaderScene.open({}, async (url) => {
      proxy = await startSolanaProxy(url);
      return proxy.url;
    });
    const { control } = scene.solana;
    inbox = scene.inboxes.create();
    for (const units of [100n, 200n, 300n]) scene.pay(inbox, units);
    control.nextSlot();
    scene.pay(inbox, 400n);
    control.nextSlot(2);
    control.send([operator], [buildSettle([inbox], { rentRecipient: true })]);
    control.nextSlot();
    scene.pay(inbox, 500n);
    control.nextSlot();
    scene.pay(inbox, 600n);
    control.nextSlot(3);
    history = await list();
    settlements = await listProgram();
    equal(history.length, 8);
    equal(settlements.length, 2);
  });
  beforeEach(() => {
    proxy.fault = undefined;
  });
  after(async () => {
    await scene.close();
    proxy.close();
  });

  async function headSlot(): Promise<bigint> {
    return (await scene.reader.head("latest")).number;
  }
  async function list(fromBlock = 0n): Promise<Transfer[]> {
    return scene.reader.transfers({ fromBlock, toBlock: await headSlot() }, [USDC], [inbox.address]);
  }
  async function listProgram(): Promise<Transfer[]> {
    return scene.reader.transfers({ fromBlock: 0n, toBlock: await headSlot() }, [USDC]);
  }
  const failsWith = (kind: Kind) => (error: unknown) => error instanceof ProviderFailed && error.kind === kind;
  /** The list of the account, changed. */
  const changeList = (change: (entries: readonly Entry[], before: string | undefined) => unknown): SolanaFault =>
    changeResult(LIST, (entries: readonly Entry[], { params }) => {
      const { before } = params[1] as { before?: string };
      return change(entries, before);
    });
  const withLimit =
    (limit: number): SolanaFault =>
    async (call, forward) => {
      if (call.method !== LIST) return forward();
      const [address, options] = call.params;
      return forward({ ...call, params: [address, { ...(options as object), limit }] });
    };

  test("pages of any length give the same transfers", async () => {
    for (const limit of [1, 2, 3, 4, 5]) {
      proxy.fault = withLimit(limit);
      deepEqual(await list(), history, `${limit} in a page`);
      deepEqual(await listProgram(), settlements, `${limit} in a page`);
    }
  });

  test("an order of its own within a slot changes nothing, or is noticed where a page cuts the slot", async () => {
    for (const limit of [2, 3, 4, 1_000]) {
      let calls = 0;
      proxy.fault = async (call, forward) => {
        const answer = await withLimit(1_000)(call, forward);
        if (call.method !== LIST || answer.error) return answer;
        calls += 1;
        const entries = (answer.result as Entry[]).toSorted((one, other) => {
          const order = one.signature < other.signature ? -1 : 1;
          return other.slot - one.slot || (calls % 2 === 0 ? order : -order);
        });
        return { result: entries.slice(0, limit) };
      };
      const found = await list().catch((error: unknown) => error);
      if (limit < 4 && found instanceof ProviderFailed) continue;
      deepEqual(found, history, `${limit} in a page`);
    }
  });

  test("a page from the wrong place is noticed: for an unknown signature the newest one, or an empty one", async () => {
    proxy.fault = async (call, forward) => {
      if (call.method !== LIST) return forward();
      const [address, options] = call.params;
      const { before: _, ...newest } = options as { before?: string };
      return forward({ ...call, params: [address, { ...newest, limit: 3 }] });
    };
    await rejects(list(), failsWith("contradictory"));
    const capped = withLimit(3);
    proxy.fault = async (call, forward) => {
      const options = call.params[1] as { before?: string } | undefined;
      return call.method === LIST && options?.before !== undefined ? { result: [] } : capped(call, forward);
    };
    await rejects(list(), failsWith("contradictory"));
  });

  test("a list that lags behind the balance is no answer", async () => {
    const head = Number(await headSlot());
    for (const lag of [4, 5, 7]) {
      proxy.fault = changeList((entries) => entries.filter(({ slot }) => slot < head - lag));
      await rejects(list(), failsWith("unknown_block"), `${lag} slots`);
    }
    proxy.fault = changeResult("getSlot", (slot: number) => slot - 5);
    const range = { fromBlock: 0n, toBlock: BigInt(head) };
    await rejects(scene.reader.transfers(range, [USDC]), failsWith("unknown_block"));
  });

  test("a transaction that is left out breaks the chain of balances", async () => {
    for (const missing of history.filter(({ to }) => to === inbox.address)) {
      proxy.fault = changeList((entries) => entries.filter(({ signature }) => signature !== missing.chainTx));
      await rejects(list(), (error) => error instanceof ProviderFailed, missing.amountText);
    }
  });

  test("a history whose beginning was dropped is no answer", async () => {
    const slots = [...new Set(history.map(({ blockNumber }) => Number(blockNumber)))];
    for (const first of slots.slice(1)) {
      // The account was created again in that slot.
      if (first === Number(history[6]?.blockNumber)) continue;
      proxy.fault = changeList((entries) => entries.filter(({ slot }) => slot >= first));
      await rejects(list(), failsWith("unknown_block"), `from ${first} on`);
    }
    proxy.fault = changeList(() => []);
    await rejects(list(), failsWith("unknown_block"));
  });

  test("a range above the first transactions needs none of them", async () => {
    const from = history[6]?.blockNumber ?? 0n;
    deepEqual(await list(from), history.slice(6));
  });

  const changeTransaction = (change: (transaction: TransactionJson) => unknown) =>
    changeResult("getTransaction", (transaction: TransactionJson | null) => transaction && change(transaction));
  const withMeta = (changed: object) =>
    changeTransaction((transaction) => ({ ...transaction, meta: { ...transaction.meta, ...changed } }));

  for (const [what, kind, fault] of [
    ["does not have", "contradictory", changeTransaction(() => null)],
    ["shows in another slot", "contradictory", changeTransaction((each) => ({ ...each, slot: each.slot - 1 }))],
    ["shows as failed", "contradictory", withMeta({ err: { InstructionError: [0, "Custom"] } })],
    ["has in an unknown version", "unreadable", changeTransaction((each) => ({ ...each, version: 2 }))],
    ["has without a version", "unreadable", changeTransaction((each) => ({ ...each, version: undefined }))],
    ["has without inner instructions", "bad_answer", withMeta({ innerInstructions: null })],
    ["has without balances before", "bad_answer", withMeta({ preTokenBalances: null })],
    ["has without balances after", "bad_answer", withMeta({ postTokenBalances: undefined })],
    ["has without its result", "bad_answer", withMeta({ err: undefined })],
    ["has with balances of the wrong accounts", "unreadable", withMeta({ postTokenBalances: [{ accountIndex: 99 }] })],
  ] as const)
    test(`a transaction that it lists and ${what} is an error`, async () => {
      proxy.fault = fault;
      await rejects(list(), failsWith(kind));
      await rejects(listProgram(), failsWith(kind));
    });

  test("a version that the node refuses is an error, and never skipped", async () => {
    const message = "Transaction version (2) is not supported by the requesting client";
    proxy.fault = async ({ method }, forward) =>
      method === "getTransaction" ? { error: { code: -32_015, message } } : forward();
    await rejects(list(), failsWith("unreadable"));
    await rejects(scene.reader.proofs([history[0]?.chainTx ?? ""]), failsWith("unreadable"));
  });

  test("a block that does not hold its transaction is a contradiction", async () => {
    proxy.fault = changeResult("getBlock", (block: { signatures?: string[] }) => ({
      ...block,
      ...(block.signatures && { signatures: [] }),
    }));
    await rejects(list(), failsWith("contradictory"));
    await rejects(scene.reader.proofs([history[0]?.chainTx ?? ""]), failsWith("contradictory"));
  });

  test("another transaction than the requested one is a contradiction", async () => {
    const other = scene.solana.control.airdrop(inbox.address, 1_000_000n);
    scene.solana.control.confirm();
    proxy.fault = async (call, forward) =>
      forward(call.method === "getTransaction" ? { ...call, params: [other, call.params[1]] } : call);
    await rejects(scene.reader.proofs([history[0]?.chainTx ?? ""]), failsWith("contradictory"));
  });

  for (const [what, kind, change] of [
    ["twice", "contradictory", (entries) => entries.flatMap((each) => [each, each])],
    ["in reverse", "contradictory", (entries) => entries.toReversed()],
    [
      "unconfirmed",
      "contradictory",
      (entries) => entries.map((each) => ({ ...each, confirmationStatus: "processed" })),
    ],
    ["without results", "bad_answer", (entries) => entries.map((each) => ({ ...each, err: undefined }))],
    ["without slots", "bad_answer", (entries) => entries.map((each) => ({ ...each, slot: null }))],
    ["as no list", "bad_answer", () => ({})],
    ["by other names", "bad_answer", (entries) => entries.map((each) => ({ ...each, signature: USDC }))],
  ] as const satisfies readonly (readonly [string, Kind, (entries: readonly Entry[]) => unknown])[])
    test(`a list of transactions ${what} is refused`, async () => {
      proxy.fault = changeList((entries) => change(entries));
      await rejects(list(), failsWith(kind));
    });

  test("a transaction that is falsely listed as failed is missed, and noticed", async () => {
    proxy.fault = changeList((entries) =>
      entries.map((each, index) => (index === 2 ? { ...each, err: { InstructionError: [0, "Custom"] } } : each)),
    );
    await rejects(list(), (error) => error instanceof ProviderFailed);
  });

  type Accounts = { context: { slot: number }; value: ({ owner: string; data: [string, string] } | null)[] };
  const changeAccounts = (change: (answer: Accounts) => unknown) =>
    changeResult("getMultipleAccounts", (answer: Accounts) => change(answer));

  test("holdings count only the account of the owner, the mint and the token program", async () => {
    const asOwned = (owner: string) =>
      changeAccounts(({ value, ...rest }) => ({ ...rest, value: value.map((each) => each && { ...each, owner }) }));
    const withByte = (offset: number, byte: number) =>
      changeAccounts(({ value, ...rest }) => ({
        ...rest,
        value: value.map((each) => {
          const data = Buffer.from(each?.data[0] ?? "", "base64");
          data.writeUInt8(byte, offset);
          return each && { ...each, data: [data.toString("base64"), "base64"] };
        }),
      }));
    equal(await scene.unitsOf(inbox), 1_100n);
    for (const [what, fault] of [
      ["another program", asOwned(operator.address)],
      ["another mint", withByte(3, 7)],
      ["another owner", withByte(35, 7)],
      ["no state", withByte(108, 0)],
    ] as const) {
      proxy.fault = fault;
      equal(await scene.unitsOf(inbox), 0n, what);
    }
    proxy.fault = withByte(108, 2);
    equal(await scene.unitsOf(inbox), 1_100n, "frozen");
  });

  test("answers about other accounts, in another encoding or of no slot are refused", async () => {
    for (const [kind, change] of [
      ["contradictory", ({ value, ...rest }) => ({ ...rest, value: [...value, null] })],
      ["contradictory", ({ context }) => ({ context, value: [] })],
      [
        "bad_answer",
        ({ context, value }) => ({ context, value: value.map((each) => each && { ...each, data: ["", "base58"] }) }),
      ],
      ["bad_answer", ({ value }) => ({ value })],
      ["bad_answer", ({ context }) => ({ context, value: ["none"] })],
    ] as const satisfies readonly (readonly [Kind, (answer: Accounts) => unknown])[]) {
      proxy.fault = changeAccounts(change);
      await rejects(scene.reader.holdings(USDC, [inbox.address]), failsWith(kind));
    }
  });

  test("holdings of many owners name the lowest slot, and past balances are unknown", async () => {
    const owners = Array.from({ length: 250 }, () => scene.inboxes.create().address);
    let slot = Number(await headSlot());
    const lowest = slot + 1;
    proxy.fault = changeResult("getMultipleAccounts", ({ value }: Accounts) => ({
      context: { slot: (slot += 1) },
      value,
    }));
    const { blockNumber, units } = await scene.reader.holdings(USDC, [...owners, inbox.address]);
    deepEqual([blockNumber, units.length, units.at(-1), units[0]], [BigInt(lowest), 251, 1_100n, 0n]);
    proxy.fault = undefined;
    const now = await headSlot();
    deepEqual(await scene.reader.balances(USDC, [inbox.address], { blockNumber: now }), [1_100n]);
    const past = scene.reader.balances(USDC, [inbox.address], { blockNumber: now - 1n });
    await rejects(past, failsWith("unknown_block"));
  });

  test("an owner costs one account of a request, and no other request", async () => {
    proxy.methods.splice(0);
    await scene.reader.holdings(
      USDC,
      Array.from({ length: 100 }, () => scene.inboxes.create().address),
    );
    deepEqual(proxy.methods, ["getMultipleAccounts"]);
  });

  test("a stranger who names the account or the program costs no block", async () => {
    const { control } = scene.solana;
    const countBlocks = async (read: () => Promise<unknown>) => {
      proxy.methods.splice(0);
      await read();
      return proxy.methods.filter((method) => method === "getBlock").length;
    };
    const before = [await countBlocks(list), await countBlocks(listProgram)];
    for (const named of [inbox.tokenAccount, LOCAL_INBOX_PROGRAM]) {
      for (let slots = 0; slots < 10; slots += 1) {
        const touch = sendLamports(stranger.address, named, 1n);
        control.send([stranger], [{ ...touch, accounts: [...touch.accounts, readonlyMeta(tokenProgram)] }]);
        control.nextSlot();
      }
    }
    control.nextSlot(3);
    deepEqual([await countBlocks(list), await countBlocks(listProgram)], before);
    deepEqual(await list(), history);
  });

  test("decimals are those of a mint, and of nothing else", async () => {
    equal(await scene.reader.tokenDecimals(USDC), 6);
    for (const address of [inbox.tokenAccount, inbox.address, operator.address, scene.reader.caip2.slice(7)])
      equal(await scene.reader.tokenDecimals(address).catch(() => undefined), undefined);
    ok(await scene.reader.holdings(inbox.tokenAccount, [inbox.address]).then(() => false, failsWith("bad_answer")));
  });
});

type TransactionJson = { slot: number; version: unknown; meta: object };
