import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { hubAddress } from "@tributary/inbox/hub";
import { ProviderFailed } from "../../src/chain/reader.ts";
import { CallReverted } from "../../src/chain/evm/node.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import { newAddress, buildTransaction, type ChainUnderTest, type Transfer } from "./chainUnderTest.ts";

const UNKNOWN_HASH = `0x${"11".repeat(32)}`;
const EXCESSIVE_UNITS = 10n ** 30n;
/** What the service takes for granted of every chain, asked of whatever stands behind `open`. */
export function describeChainConformance(name: string, open: () => Promise<ChainUnderTest>): void {
  describe(`chain conformance: ${name}`, () => {
    let chain: ChainUnderTest;
    before(async () => {
      chain = await open();
    });
    after(() => chain.close());

    const pay = (to: string, units: bigint, token = chain.tokens.plain) =>
      chain.pay(chain.payers[0], { token, to, units });
    const head = () => chain.node.head("latest");
    /** Transfers to an address in the block of a transaction, each by its amount and its identity. */
    async function transfersTo(
      to: string,
      chainTx: string,
      token = chain.tokens.plain,
    ): Promise<[bigint, string | undefined][]> {
      const [proof] = await chain.node.proofs([chainTx]);
      const transfers = await chain.node.transfers({ blockHash: proof?.blockHash ?? "" }, [token], [to]);
      return transfers
        .filter((transfer) => transfer.to === to && transfer.chainTx === chainTx)
        .map(({ amountText, place }) => [BigInt(amountText), proof?.identityAt(place)]);
    }
    const buildCall = (call: { to: string; data: string }) => buildTransaction(chain, call);
    const isUnknownBlock = (error: unknown) => error instanceof ProviderFailed && error.kind === "unknown_block";
    const transferData = (to: string, units: bigint) =>
      `0xa9059cbb${to.slice(2).padStart(64, "0")}${units.toString(16).padStart(64, "0")}`;

    test("it begins with its genesis and names itself", async () => {
      const { caip2, genesisHash } = await chain.node.identify();
      equal(caip2, `eip155:${chain.chainId}`);
      equal((await chain.node.block({ number: 0n }))?.hash, genesisHash);
    });

    test("each block is its child's parent, and safe and finalized follow the head", async () => {
      await chain.mine(3);
      const latest = await head();
      const parent = await chain.node.block({ hash: latest.parentHash });
      equal(parent?.number, latest.number - 1n);
      deepEqual(await chain.node.block({ number: latest.number }), latest);
      deepEqual(await chain.node.block({ hash: latest.hash }), latest);
      equal((await chain.node.head("safe")).number, latest.number - 1n);
      equal((await chain.node.head("finalized")).number, latest.number - 2n);
    });

    test("a block that is not there is nothing, its transfers are an error", async () => {
      const { number } = await head();
      equal(await chain.node.block({ number: number + 1n }), undefined);
      equal(await chain.node.block({ hash: UNKNOWN_HASH }), undefined);
      await rejects(chain.node.transfers({ blockHash: UNKNOWN_HASH }, [chain.tokens.plain]), isUnknownBlock);
      equal(await chain.node.receipt(UNKNOWN_HASH), undefined);
      deepEqual(await chain.node.proofs([UNKNOWN_HASH]), []);
    });

    test("a payment is in its block alone, and in no block before it is mined", async () => {
      const to = newAddress();
      const before = await head();
      const chainTx = await pay(to, 7n);
      equal(await chain.node.receipt(chainTx), undefined);
      await chain.mine();
      const block = await head();
      equal(block.number, before.number + 1n);
      const receipt = await chain.node.receipt(chainTx);
      deepEqual([receipt?.succeeded, receipt?.blockHash, receipt?.blockNumber], [true, block.hash, block.number]);
      ok((receipt?.gasUsed ?? 0n) > 21_000n);
      const [transfer] = await chain.node.transfers({ blockHash: block.hash }, [chain.tokens.plain]);
      deepEqual([transfer?.from, transfer?.to, transfer?.blockHash], [chain.payers[0], to, block.hash]);
      deepEqual(await transfersTo(to, chainTx), [[7n, "0"]]);
      deepEqual(await chain.node.transfers({ blockHash: before.hash }, [chain.tokens.plain], [to]), []);
    });

    test("a range holds what its blocks hold, by token and by party, and ends at the head", async () => {
      const [to, other] = [newAddress(), newAddress()];
      await chain.mine();
      const { number: fromBlock } = await head();
      await pay(to, 1n);
      await chain.mine();
      await pay(other, 2n);
      await pay(to, 3n, chain.tokens.silent);
      await chain.mine();
      const { number: toBlock } = await head();
      const { plain, silent } = chain.tokens;
      const amounts = async (range: { fromBlock: bigint; toBlock: bigint }, tokens: string[], parties?: string[]) =>
        (await chain.node.transfers(range, tokens, parties)).map(({ amountText }) => BigInt(amountText));
      deepEqual(await amounts({ fromBlock, toBlock }, [plain, silent]), [1n, 2n, 3n]);
      deepEqual(await amounts({ fromBlock, toBlock }, [plain]), [1n, 2n]);
      deepEqual(await amounts({ fromBlock, toBlock }, [plain, silent], [to]), [1n, 3n]);
      deepEqual(await amounts({ fromBlock, toBlock: toBlock - 1n }, [plain, silent]), [1n]);
      deepEqual(await amounts({ fromBlock: toBlock, toBlock }, [silent]), [3n]);
      // Beyond the head nobody knows anything: a node errs, or answers up to the head. It never answers less.
      const beyond = await amounts({ fromBlock, toBlock: toBlock + 9n }, [plain, silent]).catch((error: unknown) => {
        if (!isUnknownBlock(error)) throw error;
        return [1n, 2n, 3n];
      });
      deepEqual(beyond, [1n, 2n, 3n]);
    });

    test("several transfers of one transaction each have their place in its receipt", async () => {
      const [to, before] = [newAddress(), newAddress()];
      const { plain, silent } = chain.tokens;
      const first = await pay(before, 1n);
      const { chainTx } = await chain.payInOneTransaction([
        { token: plain, to, units: 5n },
        { token: plain, to: newAddress(), units: 6n },
        { token: plain, to, units: 5n },
      ]);
      await chain.mine();
      deepEqual(await transfersTo(to, chainTx), [
        [5n, "0"],
        [5n, "2"],
      ]);
      const positions = await chain.node.proofs([chainTx, first]);
      deepEqual(
        positions.map((position) => [position.chainTx, position.succeeded]),
        [
          [chainTx, true],
          [first, true],
        ],
      );
      deepEqual(await chain.node.transfers({ blockHash: (await head()).hash }, [silent]), []);
    });

    test("a transaction that fails leaves a receipt and no transfer", async () => {
      const to = newAddress();
      const chainTx = await pay(to, EXCESSIVE_UNITS);
      await chain.mine();
      equal((await chain.node.receipt(chainTx))?.succeeded, false);
      deepEqual(await transfersTo(to, chainTx), []);
      const [proof] = await chain.node.proofs([chainTx]);
      deepEqual([proof?.succeeded, proof?.identityAt(0n)], [false, undefined]);
    });

    test("a call that fails inside leaves no transfer, one that fails at its end takes all of them back", async () => {
      const to = newAddress();
      const transfers: Transfer[] = [
        { token: chain.tokens.plain, to, units: EXCESSIVE_UNITS },
        { token: chain.tokens.plain, to, units: 4n },
      ];
      const kept = await chain.payInOneTransaction(transfers);
      await chain.mine();
      deepEqual(await transfersTo(to, kept.chainTx), [[4n, "0"]]);
      const reverted = await chain.payInOneTransaction(transfers, "reverts");
      await chain.mine();
      equal((await chain.node.receipt(reverted.chainTx))?.succeeded, false);
      deepEqual(await transfersTo(to, reverted.chainTx), []);
    });

    test("balances are those of their block", async () => {
      const [to, other] = [newAddress(), newAddress()];
      const { number } = await head();
      await pay(to, 11n);
      await chain.mine();
      await pay(other, 12n);
      await chain.mine();
      const at = (block: bigint) => chain.node.balances(chain.tokens.plain, [other, to], { blockNumber: block });
      deepEqual(
        [await at(number), await at(number + 1n), await at(number + 2n)],
        [
          [0n, 0n],
          [0n, 11n],
          [12n, 11n],
        ],
      );
    });

    test("a reorg takes blocks back: what is not mined again is gone, with its balance and its receipt", async () => {
      const to = newAddress();
      await chain.mine(2);
      const lost = await pay(to, 21n);
      await chain.mine();
      const left = await head();
      const [before] = await chain.node.transfers({ blockHash: left.hash }, [chain.tokens.plain]);
      await chain.reorg(1);
      const now = await head();
      equal(now.number, left.number);
      ok(now.hash !== left.hash);
      equal(now.parentHash, left.parentHash);
      equal(await chain.node.receipt(lost), undefined);
      deepEqual(await chain.node.proofs([lost]), []);
      deepEqual(await chain.node.balances(chain.tokens.plain, [to], { blockNumber: now.number }), [0n]);
      deepEqual(await chain.node.transfers({ blockHash: now.hash }, [chain.tokens.plain]), []);
      // A node may still have a block that it left, or have it no longer; it never tells anything else of it.
      const afterwards = await chain.node.transfers({ blockHash: left.hash }, [chain.tokens.plain]).catch((error) => {
        if (!isUnknownBlock(error)) throw error;
        return [before];
      });
      deepEqual(afterwards, [before]);
      equal((await chain.node.block({ number: left.number }))?.hash, now.hash);
    });

    test("transactions that are mined again stand elsewhere, each with the same place in its own receipt", async () => {
      const [to, other] = [newAddress(), newAddress()];
      await chain.mine(2);
      const [one, two] = chain.payers;
      const first = await chain.pay(one, { token: chain.tokens.plain, to, units: 31n });
      const second = await chain.pay(two, { token: chain.tokens.plain, to: other, units: 32n });
      await chain.mine();
      const left = await head();
      const placeOf = async (chainTx: string) => {
        const [proof] = await chain.node.proofs([chainTx]);
        const transfers = await chain.node.transfers({ blockHash: proof?.blockHash ?? "" }, [chain.tokens.plain]);
        return transfers.find((transfer) => transfer.chainTx === chainTx)?.place;
      };
      const before = [await placeOf(first), await placeOf(second)];
      await chain.mine();
      await chain.reorg(2, before[0] === 0n ? [second, first] : [first, second]);
      const receipt = await chain.node.receipt(first);
      equal(receipt?.blockNumber, left.number);
      ok(receipt?.blockHash !== left.hash);
      deepEqual([await placeOf(first), await placeOf(second)], before.toReversed());
      deepEqual([await transfersTo(to, first), await transfersTo(other, second)], [[[31n, "0"]], [[32n, "0"]]]);
    });

    test("signed bytes are taken once, and again as known; the nonce moves with the block", async () => {
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
      equal(await node.nonce(gasAccount.address), plain.nonce, "a reorg gives a nonce back");
      deepEqual(await node.submit(raw), { kind: "accepted" });
      await chain.mine();
      equal((await node.receipt(chainTx))?.succeeded, true);
    });

    test("of two that use one nonce the dearer is mined; one that offers less is refused", async () => {
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

    test("later nonces wait for earlier ones, whatever comes first", async () => {
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

    test("who cannot pay the gas, and bytes that are no transaction, are told apart", async () => {
      const { node } = chain;
      const poor = openGasAccount(`0x${"77".repeat(32)}`);
      const signed = await poor.sign({ ...(await buildCall({ to: newAddress(), data: "0x" })), nonce: 0n });
      deepEqual(await node.submit(signed.raw), { kind: "no_funds" });
      equal(await node.nativeBalance(poor.address), 0n);
      equal((await node.submit("0x02c0ffee")).kind, "unknown");
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

    test("what the token would refuse is refused beforehand, and fails when it is sent all the same", async () => {
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

    test("a token that answers nothing tells of its transfers like any other", async () => {
      const { node, payers, tokens } = chain;
      const to = newAddress();
      equal(await node.call({ from: payers[0], to: tokens.silent, data: transferData(to, 1n) }), "0x");
      const chainTx = await pay(to, 41n, tokens.silent);
      await chain.mine();
      deepEqual(await transfersTo(to, chainTx, tokens.silent), [[41n, "0"]]);
      equal(await node.tokenDecimals(tokens.silent), 6);
    });

    test("a token that keeps a part tells of what arrived", async () => {
      const { node, tokens } = chain;
      const to = newAddress();
      const chainTx = await pay(to, 1_000n, tokens.taxed);
      await chain.mine();
      deepEqual(await transfersTo(to, chainTx, tokens.taxed), [[990n, "0"]]);
      deepEqual(await node.balances(tokens.taxed, [to], { blockNumber: (await head()).number }), [990n]);
    });

    test("there is code where there is a contract", async () => {
      const { node, tokens } = chain;
      deepEqual(
        [await node.hasCode(tokens.plain), await node.hasCode(hubAddress), await node.hasCode(newAddress())],
        [true, true, false],
      );
    });
  });
}
