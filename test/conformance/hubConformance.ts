import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { hubAddress } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { settleItemGas } from "@tributary/inbox/hubs";
import type { Terms } from "@tributary/inbox/terms";
import { encodeFunctionData } from "viem";
import { newAddress, buildTransaction, type EvmChainUnderTest } from "./chainUnderTest.ts";
import { FEE_RECIPIENT } from "./inboxTerms.ts";

/** Tests the assumptions of the settlement station about the hub, on the chain that `open` returns. */
export function describeHubConformance(name: string, open: () => Promise<EvmChainUnderTest>): void {
  describe(`chain conformance: the hub on ${name}`, () => {
    let chain: EvmChainUnderTest;
    before(async () => {
      chain = await open();
    });
    after(() => chain.close());

    const pay = (to: string, units: bigint) => chain.pay(chain.payers[0], { token: chain.tokens.plain, to, units });

    const settle = (terms: readonly Terms[]) =>
      encodeFunctionData({ abi: hubAbi, functionName: "settleMany", args: [[...terms], settleItemGas] });
    async function send(data: string): Promise<string> {
      const { raw, chainTx } = await chain.gasAccount.sign({
        ...(await buildTransaction(chain, { to: hubAddress, data })),
        gasLimit: 1_500_000n,
      });
      deepEqual(await chain.node.submit(raw), { kind: "accepted" });
      await chain.mine();
      return chainTx;
    }
    /** Transfers of a transaction out of an inbox, in the order of its logs. */
    async function transferLegs(chainTx: string, inbox: string): Promise<[string, bigint][]> {
      const receipt = await chain.node.receipt(chainTx);
      const transfers = await chain.node.transfers(
        { blockHash: receipt?.blockHash ?? "", blockNumber: receipt?.blockNumber ?? 0n },
        [chain.tokens.plain],
        [inbox],
      );
      return transfers
        .filter((transfer) => transfer.chainTx === chainTx && transfer.from === inbox)
        .map(({ to, amountText }) => [to, BigInt(amountText)]);
    }
    const newTerms = (salt: number) => chain.termsOf({ salt, token: chain.tokens.plain, payout: newAddress() });

    test("an inbox pays its payout, then its fee, and once", async () => {
      const terms = newTerms(1);
      const inbox = computeInboxAddress(terms);
      await pay(inbox, 1_999n);
      await chain.mine();
      equal(await chain.node.hasCode(inbox), false);
      deepEqual(await transferLegs(await send(settle([terms])), inbox), [
        [terms.payout, 1_990n],
        [FEE_RECIPIENT, 9n],
      ]);
      equal(await chain.node.hasCode(inbox), true);
      deepEqual(await transferLegs(await send(settle([terms])), inbox), []);
    });

    test("an inbox that cannot settle fails in a simulation, and does not affect the others", async () => {
      const [settleable, blocked, empty] = [newTerms(2), newTerms(3), newTerms(4)];
      await chain.blocklist(blocked.payout);
      for (const terms of [settleable, blocked]) await pay(computeInboxAddress(terms), 300n);
      await chain.mine();
      const data = settle([settleable, blocked, empty]);
      const reply = await chain.node.call({ from: chain.gasAccount.address, to: hubAddress, data });
      const selectors = [2, 3, 4].map((index) => reply.slice(2 + index * 64, 2 + index * 64 + 8));
      equal(selectors[0], "00000000");
      ok(selectors[1] !== "00000000");
      equal(selectors[2], "00000000");
      const chainTx = await send(data);
      equal((await transferLegs(chainTx, computeInboxAddress(settleable))).length, 2);
      deepEqual(await transferLegs(chainTx, computeInboxAddress(blocked)), []);
    });

    test("a sweep that a reorg drops is mined again and moves the same", async () => {
      const terms = newTerms(5);
      await pay(computeInboxAddress(terms), 400n);
      await chain.mine();
      const chainTx = await send(settle([terms]));
      await chain.reorg(1, [chainTx]);
      deepEqual(await transferLegs(chainTx, computeInboxAddress(terms)), [
        [terms.payout, 398n],
        [FEE_RECIPIENT, 2n],
      ]);
    });
  });
}
