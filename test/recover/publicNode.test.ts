import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { computeRecoverAfter } from "@tributary/inbox/recoverAfter";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import { computeInboxSalt } from "@tributary/inbox/salt";
import type { Terms } from "@tributary/inbox/terms";
import { termsToWire } from "@tributary/inbox/wire";
import type { Hex } from "viem";
import { deploymentCall, deployedAddress } from "../../src/dev/chains/contracts.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { renderCli, temporaryFolder } from "../support/cli.ts";
import { openRationedRpc, type RationedRpc } from "../support/rationedRpc.ts";

// Recovery through a node that rations its requests, and among tokens that a spammer made.

const { payoutFirst, feeRecipient, recoveryFirst, stranger } = DEV_ACCOUNTS;
const UNLIMITED = 1_000_000;

describe("a public node", () => {
  const folder = temporaryFolder();
  let chain: TestChain;
  let node: RationedRpc;
  let inboxCount = 0;

  before(async () => {
    chain = await startTestChain();
    node = await openRationedRpc(chain.rpcUrl, UNLIMITED);
  });
  after(async () => {
    folder.remove();
    await node.close();
    await chain.stop();
  });
  beforeEach(() => {
    Object.assign(node, { answered: 0, refused: 0, refusal: "status", perSecond: UNLIMITED, alter: undefined });
  });

  function newTerms(): Terms {
    inboxCount += 1;
    return {
      salt: computeInboxSalt(`0x${"11".repeat(32)}`, `pi_${inboxCount}`),
      settleChainId: BigInt(chain.chainId),
      settleToken: chain.usdc.address,
      payout: payoutFirst.address,
      feeRecipient: feeRecipient.address,
      feeBps: 100,
      recovery: recoveryFirst.address,
      recoverAfter: computeRecoverAfter(systemClock.now()),
      routesRoot: computeRoutesRoot([]),
    };
  }

  function writeFile(name: string, inboxes: readonly Terms[]): string {
    const file = join(folder.path, name);
    writeFileSync(file, JSON.stringify(inboxes.map((terms) => ({ inboxTerms: termsToWire(terms) }))));
    return file;
  }

  function recover(file: string, ...args: string[]) {
    const key = { TRIBUTARY_RECOVER_KEY: recoveryFirst.privateKey };
    return renderCli(["recover", file, "--rpc", node.url, ...args], key);
  }

  type Shown = { holdings: { token: Hex; units: string }[]; isSearched: boolean; skippedBalances: number };
  const shownBy = (out: string) => (JSON.parse(out) as [Shown])[0];

  test("ten thousand inboxes take at most three hundred requests", async () => {
    const inboxes = Array.from({ length: 10_000 }, newTerms);
    const [first, last] = [inboxes[0], inboxes.at(-1)] as [Terms, Terms];
    await chain.pay(chain.usdc.address, computeInboxAddress(first), { amountUnits: 1_000_000n });
    await chain.pay(chain.dusd.address, computeInboxAddress(last), { amountUnits: 5n });
    const run = await recover(writeFile("many.json", inboxes), "--json");
    assert.equal(run.code, 0, run.err);
    const { holdings, isSearched } = shownBy(run.out);
    assert.deepEqual(
      holdings.map(({ token, units }) => [token, units]),
      [
        [chain.usdc.address, "1000000"],
        [chain.dusd.address, "5"],
      ],
    );
    assert.equal(isSearched, true);
    assert.ok(node.answered <= 300, `${node.answered} requests`);
  });

  for (const refusal of ["status", "error", "silence"] as const)
    test(`a node that refuses more than a few requests a second, by ${refusal}, is asked again`, async () => {
      const inboxes = Array.from({ length: 40 }, newTerms);
      for (const terms of inboxes.slice(0, 3))
        await chain.pay(chain.usdc.address, computeInboxAddress(terms), { amountUnits: 1_000_000n });
      Object.assign(node, { refusal, perSecond: 4 });
      const run = await recover(writeFile("rationed.json", inboxes), "--settle", "--json");
      assert.equal(run.code, 0, run.err);
      assert.ok(node.refused > 0, "the node refused requests");
      for (const terms of inboxes.slice(0, 3))
        assert.equal(await chain.balanceOf(chain.usdc.address, computeInboxAddress(terms)), 0n);
    });

  test("a node that takes no programs is asked for each balance alone", async () => {
    const terms = newTerms();
    await chain.pay(chain.usdc.address, computeInboxAddress(terms), { amountUnits: 7n });
    node.alter = (method, params) => {
      const isProgram = method === "eth_call" && (params[0] as { to?: Hex }).to === undefined;
      return isProgram ? { jsonrpc: "2.0", id: 1, error: { code: -32_602, message: "missing field to" } } : undefined;
    };
    const run = await recover(writeFile("alone.json", [terms]), "--json");
    assert.deepEqual(
      shownBy(run.out).holdings.map(({ units }) => units),
      ["7"],
    );
  });

  test("a token that was sent after two hundred false transfers is found and rescued", async () => {
    const terms = newTerms();
    const inbox = computeInboxAddress(terms);
    await sendFalseTransfers(inbox, 250);
    await chain.pay(chain.dusd.address, inbox, { amountUnits: 9n });
    const file = writeFile("spam.json", [terms]);
    const run = await recover(file, "--json");
    const { holdings, isSearched, skippedBalances } = shownBy(run.out);
    assert.deepEqual([holdings.map(({ units }) => units), isSearched, skippedBalances], [["9"], true, 0]);
    const rescued = await recover(file, "--rescue");
    assert.equal(rescued.code, 0, rescued.err);
    assert.equal(await chain.balanceOf(chain.dusd.address, inbox), 0n);
  });

  test("tokens that use all gas hide nothing", async () => {
    const terms = newTerms();
    const inbox = computeInboxAddress(terms);
    await sendFalseTransfers(inbox, 120, LOOPING_BALANCE);
    await chain.pay(chain.dusd.address, inbox, { amountUnits: 9n });
    const { holdings, isSearched, skippedBalances } = shownBy(
      (await recover(writeFile("gas.json", [terms]), "--json")).out,
    );
    assert.deepEqual(
      holdings.map(({ units }) => units),
      ["9"],
    );
    // What stays unread is counted, never passed over.
    assert.deepEqual([isSearched, skippedBalances], [false, 20]);
  });

  /**
   * Contracts that log a transfer to the inbox when they are created. Each has code of its own, so that it is a token
   * of its own.
   */
  async function sendFalseTransfers(inbox: Hex, count: number, code = NO_BALANCE): Promise<void> {
    const calls = Array.from({ length: count }, (_, index) => {
      const deployment = { creationCode: falseTransferCode(inbox, code), salt: toSalt(inbox, index) };
      return { call: deploymentCall(deployment), address: deployedAddress(deployment) };
    });
    const receipts = await chain.send(
      stranger,
      calls.map(({ call }) => ({ ...call, gasLimit: 200_000n })),
    );
    assert.ok(receipts.every(({ status, logs }) => status === "success" && logs.length === 1));
    assert.equal(new Set(calls.map(({ address }) => address)).size, count);
  }
});

const TRANSFER_TOPIC = "ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
/** Answers nothing. */
const NO_BALANCE = "00";
/** JUMPDEST, PUSH1 0, JUMP: uses all gas that it gets. */
const LOOPING_BALANCE = "5b600056";

/** Logs Transfer(0, inbox), and leaves the code. */
function falseTransferCode(inbox: Hex, code: string): Hex {
  const bytes = code.length / 2;
  const log = `73${inbox.slice(2)}5f7f${TRANSFER_TOPIC}5f5fa3`;
  const byte = (value: number) => value.toString(16).padStart(2, "0");
  // PUSHn code, MSTORE at 0, RETURN its bytes, which end the word.
  return `0x${log}${byte(0x5f + bytes)}${code}5f5260${byte(bytes)}60${byte(32 - bytes)}f3`;
}

function toSalt(inbox: Hex, index: number): Hex {
  return `0x${inbox.slice(2).padStart(56, "0")}${index.toString(16).padStart(8, "0")}`;
}
