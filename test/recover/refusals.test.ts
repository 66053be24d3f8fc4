import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { computeRoutesRoot } from "@tributary/inbox/routes";
import { computeInboxSalt } from "@tributary/inbox/salt";
import { zeroAddress, type Terms } from "@tributary/inbox/terms";
import { termsToWire } from "@tributary/inbox/wire";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { renderCli, temporaryFolder } from "../support/cli.ts";
import { openRationedRpc } from "../support/rationedRpc.ts";

// What recovery says, and its exit code, when nothing moves.

const { payoutFirst, payoutSecond, feeRecipient, recoveryFirst, stranger } = DEV_ACCOUNTS;
const UNITS = 1_000_000n;
/** The recovery date has come. */
const PAST = 1;

describe("a payout wallet that the issuer blocks", () => {
  const folder = temporaryFolder();
  let chain: TestChain;
  let inboxCount = 0;
  before(async () => {
    chain = await startTestChain();
    await chain.blocklist(chain.usdc.address, payoutFirst.address);
  });
  after(async () => {
    folder.remove();
    await chain.stop();
  });

  function newTerms(change: Partial<Terms> = {}): Terms {
    inboxCount += 1;
    return {
      salt: computeInboxSalt(`0x${"11".repeat(32)}`, `pi_refused_${inboxCount}`),
      settleChainId: BigInt(chain.chainId),
      settleToken: chain.usdc.address,
      payout: payoutFirst.address,
      feeRecipient: feeRecipient.address,
      feeBps: 0,
      recovery: recoveryFirst.address,
      recoverAfter: PAST,
      routesRoot: computeRoutesRoot([]),
      ...change,
    };
  }

  async function pay(terms: Terms): Promise<void> {
    await chain.pay(chain.usdc.address, computeInboxAddress(terms), { amountUnits: UNITS });
  }

  function writeFile(name: string, entries: readonly object[]): string {
    const file = join(folder.path, name);
    writeFileSync(file, JSON.stringify(entries));
    return file;
  }

  const toEntry = (terms: Terms) => ({ inboxTerms: termsToWire(terms) });
  const recover = (file: string, key: typeof stranger, ...args: string[]) =>
    renderCli(["recover", file, "--rpc", chain.rpcUrl, ...args], { TRIBUTARY_RECOVER_KEY: key.privateKey });

  test("one inbox and a batch do not settle: the words of the refusal, and exit code 1", async () => {
    const inboxes = [newTerms(), newTerms()];
    for (const terms of inboxes) await pay(terms);
    const one = await recover(writeFile("one.json", inboxes.slice(0, 1).map(toEntry)), stranger, "--settle");
    assert.equal(one.code, 1);
    assert.match(one.err, /the token refuses the transfer to the payout wallet, which its issuer may block/);
    assert.doesNotMatch(one.err, /0x90b8ec18|custom error/);
    const batch = await recover(writeFile("batch.json", inboxes.map(toEntry)), stranger, "--settle");
    assert.equal(batch.code, 1, batch.out);
    assert.match(batch.err, /did not settle: its token rejects the transfer.*--rescue can take it/);
  });

  test("the rescue goes to the recovery address, not to the blocked wallet, or to the named one", async () => {
    const [first, second] = [newTerms(), newTerms()];
    await pay(first);
    const own = await recover(writeFile("own.json", [toEntry(first)]), recoveryFirst, "--rescue");
    assert.equal(own.code, 0, own.err);
    assert.equal(await chain.balanceOf(chain.usdc.address, recoveryFirst.address), UNITS);
    await pay(second);
    const file = writeFile("named.json", [toEntry(second)]);
    const blocked = await recover(file, recoveryFirst, "--rescue", "--to", payoutFirst.address);
    assert.equal(blocked.code, 1);
    assert.match(blocked.err, /the token refuses the transfer to the receiver.*name another receiver/);
    const named = await recover(file, recoveryFirst, "--rescue", "--to", payoutSecond.address);
    assert.equal(named.code, 0, named.err);
    assert.equal(await chain.balanceOf(chain.usdc.address, payoutSecond.address), UNITS);
  });

  test("an inbox or a hub is no receiver", async () => {
    const terms = newTerms();
    await pay(terms);
    const file = writeFile("inside.json", [toEntry(terms)]);
    for (const to of [computeInboxAddress(terms), chain.hub]) {
      const run = await recover(file, recoveryFirst, "--rescue", "--to", to);
      assert.equal(run.code, 2, run.err);
      assert.match(run.err, /is an inbox or a hub, not a wallet/);
    }
    assert.equal(await chain.balanceOf(chain.usdc.address, computeInboxAddress(terms)), UNITS);
  });

  test("one malformed entry is named and left out, and the others are recovered", async () => {
    const terms = newTerms({ payout: payoutSecond.address });
    await pay(terms);
    const bad = { intentId: "pi_bad", inboxTerms: { ...toEntry(terms).inboxTerms, payout: "\u001b[2K0x\u009b1A" } };
    const run = await recover(writeFile("partly.json", [bad, toEntry(terms)]), stranger, "--settle");
    assert.equal(run.code, 1, "the file was not read whole");
    assert.match(run.err, /Left out of .*partly\.json: Entry 1: inboxTerms: payout/);
    for (const control of ["\u001b", "\u009b"]) assert.ok(!`${run.out}${run.err}`.includes(control));
    assert.equal(await chain.balanceOf(chain.usdc.address, computeInboxAddress(terms)), 0n);
  });

  test("a node without a base fee is paid by its gas price", async () => {
    const terms = newTerms({ payout: payoutSecond.address });
    await pay(terms);
    const node = await openRationedRpc(chain.rpcUrl, 1_000_000);
    node.alter = (method, _params, answer) => {
      if (method !== "eth_getBlockByNumber") return undefined;
      const { result, ...rest } = answer as { result: Record<string, unknown> };
      const { baseFeePerGas: _, ...block } = result;
      return { ...rest, result: block };
    };
    const file = writeFile("legacy.json", [toEntry(terms)]);
    const args = ["recover", file, "--rpc", node.url, "--settle"];
    const run = await renderCli(args, { TRIBUTARY_RECOVER_KEY: stranger.privateKey });
    await node.close();
    assert.equal(run.code, 0, run.err);
    assert.equal(await chain.balanceOf(chain.usdc.address, computeInboxAddress(terms)), 0n);
  });

  test("verify prints no text of a file into the terminal, and says that nobody can recover", async () => {
    const terms = newTerms({ payout: payoutSecond.address, recovery: zeroAddress });
    const hostile = { intentId: "pi_1\u001b[1A\u001b[2K\r✓ pi_1 pays only you", ...toEntry(terms) };
    const file = writeFile("hostile.json", [hostile]);
    const wrong = await renderCli(["verify", file, "--payout", payoutFirst.address]);
    assert.equal(wrong.code, 1);
    for (const text of ["\u001b", "✓"]) assert.ok(!wrong.out.includes(text));
    const right = await renderCli(["verify", file, "--payout", payoutSecond.address]);
    assert.match(right.out, /recovery by nobody/);
    const own = ["--recovery", recoveryFirst.address];
    const expected = await renderCli(["verify", file, "--payout", payoutSecond.address, ...own]);
    assert.match(expected.out, /wrong_recovery/);
  });
});
