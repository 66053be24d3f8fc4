import { deepEqual, equal, ok } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { hubAddress } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import type { Terms } from "@tributary/inbox/terms";
import { encodeFunctionData } from "viem";
import { newAddress, buildTransaction, type EvmChainUnderTest } from "./chainUnderTest.ts";
import { FEE_RECIPIENT } from "./inboxTerms.ts";

/** What the settlement station takes for granted of the hub, asked of whatever stands behind `open`. */
export function describeHubConformance(name: string, open: () => Promise<EvmChainUnderTest>): void {
  describe(`chain conformance: the hub on ${name}`, () => {
    let chain: EvmChainUnderTest;
    before(async () => {
      chain = await open();
    });
    after(() => chain.close());

    const pay = (to: string, units: bigint) => chain.pay(chain.payers[0], { token: chain.tokens.plain, to, units });

    const settle = (terms: readonly Terms[]) =>
      encodeFunctionData({ abi: hubAbi, functionName: "settleMany", args: [[...terms]] });
    async function send(data: string): Promise<string> {
      const { raw, chainTx } = await chain.gasAccount.sign({
        ...(await buildTransaction(chain, { to: hubAddress, data })),
        gasLimit: 900_000n,
      });
      deepEqual(await chain.node.submit(raw), { kind: "accepted" });
      await chain.mine();
      return chainTx;
    }
    /** What a transaction moved out of an inbox, in the order of its logs. */
    async function transferLegs(chainTx: string, inbox: string): Promise<[string, bigint][]> {
      const receipt = await chain.node.receipt(chainTx);
      const transfers = await chain.node.transfers(
        { blockHash: receipt?.blockHash ?? "" },
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

    test("one that cannot be settled says so beforehand, and does not hold up the others", async () => {
      const [sound, barred, empty] = [newTerms(2), newTerms(3), newTerms(4)];
      await chain.blocklist(barred.payout);
      for (const terms of [sound, barred]) await pay(computeInboxAddress(terms), 300n);
      await chain.mine();
      const data = settle([sound, barred, empty]);
      const told = await chain.node.call({ from: chain.gasAccount.address, to: hubAddress, data });
      const selectors = [2, 3, 4].map((word) => told.slice(2 + word * 64, 2 + word * 64 + 8));
      equal(selectors[0], "00000000");
      ok(selectors[1] !== "00000000");
      equal(selectors[2], "00000000");
      const chainTx = await send(data);
      equal((await transferLegs(chainTx, computeInboxAddress(sound))).length, 2);
      deepEqual(await transferLegs(chainTx, computeInboxAddress(barred)), []);
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
