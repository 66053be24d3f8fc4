import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { hubAddress } from "@tributary/inbox/hub";
import { CallReverted } from "../../src/chain/evm/node.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import { newAddress, buildTransaction, type EvmChainUnderTest } from "./chainUnderTest.ts";

const UNKNOWN_HASH = `0x${"11".repeat(32)}`;
const EXCESSIVE_UNITS = 10n ** 30n;
/** Tests the assumptions of the EVM kind about a node, on the chain that `open` returns. */
export function describeEvmConformance(name: string, open: () => Promise<EvmChainUnderTest>): void {
  describe(`chain conformance: the EVM node of ${name}`, () => {
    let chain: EvmChainUnderTest;
    before(async () => {
      chain = await open();
    });
    after(() => chain.close());

    const pay = (to: string, units: bigint, token = chain.tokens.plain) =>
      chain.pay(chain.payers[0], { token, to, units });
    const head = () => chain.node.head("latest");
    /** Transfers to an address in the block of a transaction, each with its amount and identity. */
    async function transfersTo(
      to: string,
      chainTx: string,
      token = chain.tokens.plain,
    ): Promise<[bigint, string | undefined][]> {
      const [proof] = await chain.node.proofs([chainTx]);
      const transfers = await chain.node.transfers(
        { blockHash: proof?.blockHash ?? "", blockNumber: proof?.blockNumber ?? 0n },
        [token],
        [to],
      );
      return transfers
        .filter((transfer) => transfer.to === to && transfer.chainTx === chainTx)
        .map(({ amountText, place }) => [BigInt(amountText), proof?.identityAt(place)]);
    }
    const buildCall = (call: { to: string; data: string }) => buildTransaction(chain, call);
    const transferData = (to: string, units: bigint) =>
      `0xa9059cbb${to.slice(2).padStart(64, "0")}${units.toString(16).padStart(64, "0")}`;

    test("a receipt shows a transaction's result, and disappears with its block", async () => {
      const to = newAddress();
      equal(await chain.node.receipt(UNKNOWN_HASH), undefined);
      const chainTx = await pay(to, 7n);
      equal(await chain.node.receipt(chainTx), undefined);
      await chain.mine();
      const block = await head();
      const receipt = await chain.node.receipt(chainTx);
      deepEqual([receipt?.succeeded, receipt?.blockHash, receipt?.blockNumber], [true, block.hash, block.number]);
      ok((receipt?.gasUsed ?? 0n) > 21_000n);
      const failed = await pay(to, EXCESSIVE_UNITS);
      await chain.mine();
      equal((await chain.node.receipt(failed))?.succeeded, false);
      await chain.reorg(2);
      equal(await chain.node.receipt(chainTx), undefined);
    });

    test("the identity of a transfer is its log's place in the receipt, wherever the transaction is mined", async () => {
      const [to, before, other] = [newAddress(), newAddress(), newAddress()];
      const { plain } = chain.tokens;
      const [one, two] = chain.payers;
      await pay(before, 1n);
      const several = await chain.payInOneTransaction([
        { token: plain, to, units: 5n },
        { token: plain, to: newAddress(), units: 6n },
        { token: plain, to, units: 5n },
      ]);
      await chain.mine();
      deepEqual(await transfersTo(to, several.chainTx), [
        [5n, "0"],
        [5n, "2"],
      ]);
      const kept = await chain.payInOneTransaction([
        { token: plain, to: other, units: EXCESSIVE_UNITS },
        { token: plain, to: other, units: 4n },
      ]);
      await chain.mine();
      deepEqual(await transfersTo(other, kept.chainTx), [[4n, "0"]]);
      await chain.mine(2);
      const first = await chain.pay(one, { token: plain, to, units: 31n });
      const second = await chain.pay(two, { token: plain, to: other, units: 32n });
      await chain.mine(2);
      await chain.reorg(2, [second, first]);
      deepEqual([await transfersTo(to, first), await transfersTo(other, second)], [[[31n, "0"]], [[32n, "0"]]]);
    });

    test("a call of a token without return values returns nothing", async () => {
      const { node, payers, tokens } = chain;
      equal(await node.call({ from: payers[0], to: tokens.silent, data: transferData(newAddress(), 1n) }), "0x");
    });

    test("signed bytes are accepted once, and then known; the nonce rises with the block", async () => {
      const { node, gasAccount } = chain;
      const plain = await buildCall({ to: newAddress(), data: "0x" });
      const { raw, chainTx } = await gasAccount.sign(plain);
      deepEqual(await node.submit(raw), { kind: "accepted" });
      deepEqual(await node.submit(raw), { kind: "known" });
      equal(await node.nonce(gasAccount.address), plain.nonce);
      await chain.mine();
      equal(await node.nonce(gasAccount.address), plain.nonce + 1n);
      equal((await node.receipt(chainTx))?.succeeded, true);
      deepEqual(await node.submit(raw), { kind: "nonce_used" });
      await chain.mine();
      await chain.reorg(2);
      equal(await node.nonce(gasAccount.address), plain.nonce, "a reorg lowers the nonce");
      deepEqual(await node.submit(raw), { kind: "accepted" });
      await chain.mine();
      equal((await node.receipt(chainTx))?.succeeded, true);
    });

    test("of two transactions with one nonce the higher fee is mined; a lower offer is refused", async () => {
      const { node, gasAccount } = chain;
      const plain = await buildCall({ to: newAddress(), data: "0x" });
      const raiseFees = async (percent: bigint) =>
        gasAccount.sign({
          ...plain,
          maxFeePerGas: (plain.maxFeePerGas * (100n + percent)) / 100n,
          maxPriorityFeePerGas: (plain.maxPriorityFeePerGas * (100n + percent)) / 100n,
        });
      const [first, cheaper, dearer] = [await raiseFees(0n), await raiseFees(-5n), await raiseFees(30n)];
      deepEqual(await node.submit(first.raw), { kind: "accepted" });
      deepEqual(await node.submit(cheaper.raw), { kind: "underpriced" });
      deepEqual(await node.submit(dearer.raw), { kind: "accepted" });
      await chain.mine();
      equal(await node.receipt(first.chainTx), undefined);
      equal((await node.receipt(dearer.chainTx))?.succeeded, true);
      deepEqual(await node.submit(first.raw), { kind: "nonce_used" });
    });

    test("later nonces wait for earlier ones, in any order of arrival", async () => {
      const { node, gasAccount } = chain;
      const plain = await buildCall({ to: newAddress(), data: "0x" });
      const [early, late] = [
        await gasAccount.sign(plain),
        await gasAccount.sign({ ...plain, nonce: plain.nonce + 1n }),
      ];
      deepEqual(await node.submit(late.raw), { kind: "accepted" });
      await chain.mine();
      equal(await node.receipt(late.chainTx), undefined);
      deepEqual(await node.submit(early.raw), { kind: "accepted" });
      await chain.mine();
      equal((await node.receipt(early.chainTx))?.succeeded, true);
      equal((await node.receipt(late.chainTx))?.succeeded, true);
    });

    test("a sender without gas and invalid bytes get different answers", async () => {
      const { node } = chain;
      const poor = openGasAccount(`0x${"77".repeat(32)}`);
      const signed = await poor.sign({ ...(await buildCall({ to: newAddress(), data: "0x" })), nonce: 0n });
      deepEqual(await node.submit(signed.raw), { kind: "no_funds" });
      equal(await node.nativeBalance(poor.address), 0n);
      // Some nodes say that they cannot decode them, which says no more than an answer of unknown meaning.
      ok(["unknown", "untakeable"].includes((await node.submit("0x02c0ffee")).kind));
    });

    test("too little gas uses up the nonce and moves nothing", async () => {
      const { node, gasAccount, tokens } = chain;
      const to = newAddress();
      await pay(gasAccount.address, 100n);
      await chain.mine();
      const call = { to: tokens.plain, data: transferData(to, 1n) };
      const gas = await node.estimateGas({ ...call, from: gasAccount.address });
      const plain = await buildCall(call);
      const { raw, chainTx } = await gasAccount.sign({ ...plain, gasLimit: gas - 8_000n });
      deepEqual(await node.submit(raw), { kind: "accepted" });
      await chain.mine();
      equal((await node.receipt(chainTx))?.succeeded, false);
      equal(await node.nonce(gasAccount.address), plain.nonce + 1n);
      deepEqual(await node.balances(tokens.plain, [to], { blockNumber: (await head()).number }), [0n]);
    });

    test("a transfer that the token refuses fails in a simulation, and on the chain when it is sent anyway", async () => {
      const { node, payers, tokens } = chain;
      const to = newAddress();
      const call = { from: payers[0], to: tokens.plain, data: transferData(to, 1n) };
      equal(BigInt(await node.call(call)), 1n);
      await chain.blocklist(to);
      await rejects(node.call(call), CallReverted);
      await rejects(node.estimateGas(call), CallReverted);
      const chainTx = await pay(to, 1n);
      await chain.mine();
      equal((await node.receipt(chainTx))?.succeeded, false);
      await chain.unblocklist(to);
      ok((await node.estimateGas(call)) > 21_000n);
    });

    test("only contracts have code", async () => {
      const { node, tokens } = chain;
      deepEqual(
        [await node.hasCode(tokens.plain), await node.hasCode(hubAddress), await node.hasCode(newAddress())],
        [true, true, false],
      );
    });
  });
}
