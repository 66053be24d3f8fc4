import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { cctpMessenger, cctpTransmitter } from "@tributary/inbox/solana/cctp";
import { deriveAddress } from "@tributary/inbox/solana/derive";
import { decodeKey } from "@tributary/inbox/solana/keys";
import { LOCAL_MINTS } from "../../packages/local-solana/src/fixtures.ts";
import { openSolanaCrossing, type SolanaCrossingRoad } from "../support/solanaCrossing.ts";
import { changeResult, startSolanaProxy, type SolanaProxy } from "../support/solanaProxy.ts";

// One URL leads to two honest nodes, of which one is behind the other. It answers null for newer transactions, as a node
// does for what does not exist. Or both show a transaction without what the bridge's programs did in it.

const USDC = 1_000_000n;

describe("a node that lacks the transactions of a crossing", () => {
  let road: SolanaCrossingRoad;
  let proxy: SolanaProxy;
  before(async () => {
    road = await openSolanaCrossing({
      rpcUrls: async (honest) => {
        proxy = await startSolanaProxy(honest);
        return [proxy.url];
      },
    });
  });
  after(async () => {
    await road.close();
    proxy.close();
  });

  /** From now on the node that is behind gets the second question about each transaction. */
  function letOneLag(): void {
    const asked = new Map<unknown, number>();
    proxy.fault = async (call, forward) => {
      if (call.method !== "getTransaction") return forward();
      const [signature] = call.params;
      const count = (asked.get(signature) ?? 0) + 1;
      asked.set(signature, count);
      return count === 2 ? { result: null } : forward();
    };
  }

  test("what a bridge gives on Solana is no payment", async () => {
    const intent = await road.createOnSolana({ priceUnits: 150_000_000, oneTime: true });
    const inbox = await road.issueOnEvm(intent);
    letOneLag();
    await road.payOnEvm(inbox, 100n * USDC);
    await road.untilLanded(intent);
    const { counted_units: counted, status } = await road.intent(intent);
    assert.deepEqual([counted, status], [100n * USDC, "active"]);
  });

  test("what it takes there arrives on the EVM chain", async () => {
    const intent = await road.create();
    const inbox = await road.issue(intent);
    letOneLag();
    road.pay(inbox, 20n * USDC);
    await road.untilLanded(intent);
    const [settlement] = await road.settlements(intent);
    assert.deepEqual([settlement?.reason, settlement?.net_units], [null, 19_897_413n]);
  });

  /** From now on the instructions of these programs, and those from these accounts, are shown with other data. */
  function hideInstructionsOf(...hidden: readonly string[]): void {
    type Instruction = { programIdIndex: number; accounts: number[]; data: string };
    type Shown = {
      transaction: { message: { accountKeys: string[]; instructions: Instruction[] } };
      meta: {
        innerInstructions: { instructions: Instruction[] }[];
        loadedAddresses?: { writable: string[]; readonly: string[] };
      };
    };
    proxy.fault = changeResult("getTransaction", (shown: Shown | null) => {
      if (shown === null) return null;
      const { transaction, meta } = shown;
      const { writable = [], readonly = [] } = meta.loadedAddresses ?? {};
      const keys = [...transaction.message.accountKeys, ...writable, ...readonly];
      const all = [...transaction.message.instructions, ...meta.innerInstructions.flatMap((each) => each.instructions)];
      const isHidden = ({ programIdIndex, accounts: [source = -1] }: Instruction) =>
        [programIdIndex, source].some((index) => hidden.includes(keys[index] ?? ""));
      for (const each of all.filter(isHidden)) each.data = "1";
      return shown;
    });
  }
  /** With one provider, a block is read a second time long after it is final. What was shown before stays as it is. */
  async function untilReadAgain(): Promise<void> {
    const cursor = () =>
      road.db.root
        .selectFrom("chain_cursor")
        .selectAll()
        .where("chain", "=", `solana:${road.solana.reference}`)
        .executeTakeFirstOrThrow();
    const { number } = await cursor();
    road.solana.control.nextSlot(30);
    await road.until(async () => (await cursor()).reread_number >= number);
  }
  const movements = ({ id }: { id: string }, direction: "in" | "out") =>
    road.db.root
      .selectFrom("movement")
      .selectAll()
      .where("intent_id", "=", id)
      .where("chain", "=", `solana:${road.solana.reference}`)
      .where("direction", "=", direction)
      .where("orphaned_at", "is", null)
      .execute();

  test("what a bridge gave on Solana without its receipt is no payment once it is read again", async () => {
    const intent = await road.createOnSolana({ priceUnits: 150_000_000, oneTime: true });
    const inbox = await road.issueOnEvm(intent);
    await untilReadAgain();
    const seeds = [Buffer.from("custody"), decodeKey("mint", LOCAL_MINTS.USDC.address)];
    hideInstructionsOf(cctpTransmitter, deriveAddress(seeds, cctpMessenger).address);
    await road.payOnEvm(inbox, 100n * USDC);
    await road.until(async () => (await movements(intent, "in")).length > 0);
    const [payment] = await movements(intent, "in");
    assert.equal(payment?.explained_by, null);
    await road.until(async () => (await road.intent(intent)).status === "settled");
    proxy.fault = undefined;
    await road.until(async () => (await movements(intent, "in"))[0]?.explained_by?.startsWith("cctp-v2/0/") === true);
    const isLanded = ({ chain, status }: { chain: string; status: string }) =>
      chain === road.home.caip2 && status === "landed";
    await road.until(async () => (await road.settlements(intent)).some(isLanded));
    const { counted_units: counted, status } = await road.intent(intent);
    assert.deepEqual([counted, status], [100n * USDC, "active"]);
  });

  test("what it took there without its instruction is no loss", async () => {
    const intent = await road.create();
    const inbox = await road.issue(intent);
    await untilReadAgain();
    hideInstructionsOf(cctpMessenger);
    road.pay(inbox, 20n * USDC);
    await road.until(async () => (await movements(intent, "out")).length > 0);
    const [burn] = await movements(intent, "out");
    assert.equal(burn?.explained_by, null);
    proxy.fault = undefined;
    await road.until(async () => (await road.settlements(intent)).some(({ landed_chain: chain }) => chain !== null));
    const [settlement] = await road.settlements(intent);
    assert.deepEqual([settlement?.reason, settlement?.net_units], [null, 19_897_413n]);
  });
});
