import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ProviderFailed } from "../../src/chain/reader.ts";
import { newAddress, type ChainUnderTest, type Transfer } from "./chainUnderTest.ts";

const UNKNOWN_HASH = `0x${"11".repeat(32)}`;
const EXCESSIVE_UNITS = 10n ** 30n;

/** Tests the assumptions of the service about every chain's reader, on the chain that `open` returns. */
export function describeReaderConformance(name: string, open: () => Promise<ChainUnderTest>): void {
  describe(`chain conformance: the reader of ${name}`, () => {
    let chain: ChainUnderTest;
    before(async () => {
      chain = await open();
    });
    after(() => chain.close());

    const pay = (to: string, units: bigint, token = chain.tokens.plain) =>
      chain.pay(chain.payers[0], { token, to, units });
    const head = () => chain.reader.head("latest");
    /** Transfers to an address in the block of a transaction. */
    async function transfersTo(to: string, chainTx: string, token = chain.tokens.plain) {
      const [proof] = await chain.reader.proofs([chainTx]);
      const transfers = await chain.reader.transfers(
        { blockHash: proof?.blockHash ?? "", blockNumber: proof?.blockNumber ?? 0n },
        [token],
        [to],
      );
      return transfers
        .filter((transfer) => transfer.to === to && transfer.chainTx === chainTx)
        .map(({ amountText, place }) => ({ amount: BigInt(amountText), identity: proof?.identityAt(place) }));
    }
    const amountsTo = async (...args: Parameters<typeof transfersTo>) =>
      (await transfersTo(...args)).map(({ amount }) => amount);
    const identitiesTo = async (...args: Parameters<typeof transfersTo>) =>
      (await transfersTo(...args)).map(({ identity }) => identity);
    const isUnknownBlock = (error: unknown) => error instanceof ProviderFailed && error.kind === "unknown_block";

    test("the reader shows its genesis and its chain id", async () => {
      const { caip2, genesisHash } = await chain.reader.identify();
      equal(caip2, `eip155:${chain.chainId}`);
      equal((await chain.reader.block({ number: 0n }))?.hash, genesisHash);
    });

    test("each block is its child's parent, and safe and finalized follow the head", async () => {
      await chain.mine(3);
      const latest = await head();
      const parent = await chain.reader.block({ hash: latest.parentHash });
      equal(parent?.number, latest.number - 1n);
      deepEqual(await chain.reader.block({ number: latest.number }), latest);
      deepEqual(await chain.reader.block({ hash: latest.hash }), latest);
      equal((await chain.reader.head("safe")).number, latest.number - 1n);
      equal((await chain.reader.head("finalized")).number, latest.number - 2n);
    });

    test("an unknown block is undefined, and its transfers are an error", async () => {
      const { number } = await head();
      equal(await chain.reader.block({ number: number + 1n }), undefined);
      equal(await chain.reader.block({ hash: UNKNOWN_HASH }), undefined);
      await rejects(
        chain.reader.transfers({ blockHash: UNKNOWN_HASH, blockNumber: 1n }, [chain.tokens.plain]),
        isUnknownBlock,
      );
      deepEqual(await chain.reader.proofs([UNKNOWN_HASH]), []);
    });

    test("a payment shows only in its block, and in no block before it is mined", async () => {
      const to = newAddress();
      const before = await head();
      const chainTx = await pay(to, 7n);
      deepEqual(await chain.reader.proofs([chainTx]), []);
      await chain.mine();
      const block = await head();
      equal(block.number, before.number + 1n);
      const [proof] = await chain.reader.proofs([chainTx]);
      deepEqual([proof?.succeeded, proof?.blockHash, proof?.blockNumber], [true, block.hash, block.number]);
      const [transfer] = await chain.reader.transfers({ blockHash: block.hash, blockNumber: block.number }, [
        chain.tokens.plain,
      ]);
      deepEqual([transfer?.from, transfer?.to, transfer?.blockHash], [chain.payers[0], to, block.hash]);
      deepEqual(await amountsTo(to, chainTx), [7n]);
      deepEqual(
        await chain.reader.transfers(
          { blockHash: before.hash, blockNumber: before.number },
          [chain.tokens.plain],
          [to],
        ),
        [],
      );
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
        (await chain.reader.transfers(range, tokens, parties)).map(({ amountText }) => BigInt(amountText));
      deepEqual(await amounts({ fromBlock, toBlock }, [plain, silent]), [1n, 2n, 3n]);
      deepEqual(await amounts({ fromBlock, toBlock }, [plain]), [1n, 2n]);
      deepEqual(await amounts({ fromBlock, toBlock }, [plain, silent], [to]), [1n, 3n]);
      deepEqual(await amounts({ fromBlock, toBlock: toBlock - 1n }, [plain, silent]), [1n]);
      deepEqual(await amounts({ fromBlock: toBlock, toBlock }, [silent]), [3n]);
      // Beyond the head, a node fails or answers up to the head. It never omits a transfer below it.
      const beyond = await amounts({ fromBlock, toBlock: toBlock + 9n }, [plain, silent]).catch((error: unknown) => {
        if (!isUnknownBlock(error)) throw error;
        return [1n, 2n, 3n];
      });
      deepEqual(beyond, [1n, 2n, 3n]);
    });

    test("each transfer of a transaction has its own identity, even two of one amount to one address", async () => {
      const [to, before] = [newAddress(), newAddress()];
      const { plain, silent } = chain.tokens;
      const first = await pay(before, 1n);
      const { chainTx } = await chain.payInOneTransaction([
        { token: plain, to, units: 5n },
        { token: plain, to: newAddress(), units: 6n },
        { token: plain, to, units: 5n },
      ]);
      await chain.mine();
      deepEqual(await amountsTo(to, chainTx), [5n, 5n]);
      const identities = await identitiesTo(to, chainTx);
      equal(new Set(identities).size, 2);
      ok(identities.every((identity) => identity !== undefined && identity !== ""));
      const proofs = await chain.reader.proofs([chainTx, first]);
      deepEqual(
        proofs.map((proof) => [proof.chainTx, proof.succeeded]),
        [
          [chainTx, true],
          [first, true],
        ],
      );
      const { hash: blockHash, number: blockNumber } = await head();
      deepEqual(await chain.reader.transfers({ blockHash, blockNumber }, [silent]), []);
    });

    test("a transaction that fails leaves a proof and no transfer", async () => {
      const to = newAddress();
      const chainTx = await pay(to, EXCESSIVE_UNITS);
      await chain.mine();
      deepEqual(await amountsTo(to, chainTx), []);
      const [proof] = await chain.reader.proofs([chainTx]);
      deepEqual([proof?.succeeded, proof?.identityAt(0n)], [false, undefined]);
    });

    test("a failed inner call leaves no transfer, and a failed transaction reverts all of them", async () => {
      const to = newAddress();
      const transfers: Transfer[] = [
        { token: chain.tokens.plain, to, units: EXCESSIVE_UNITS },
        { token: chain.tokens.plain, to, units: 4n },
      ];
      const kept = await chain.payInOneTransaction(transfers);
      await chain.mine();
      deepEqual(await amountsTo(to, kept.chainTx), [4n]);
      const reverted = await chain.payInOneTransaction(transfers, "reverts");
      await chain.mine();
      equal((await chain.reader.proofs([reverted.chainTx]))[0]?.succeeded, false);
      deepEqual(await amountsTo(to, reverted.chainTx), []);
    });

    test("balances are those of their block", async () => {
      const [to, other] = [newAddress(), newAddress()];
      const { number } = await head();
      await pay(to, 11n);
      await chain.mine();
      await pay(other, 12n);
      await chain.mine();
      const at = (block: bigint) => chain.reader.balances(chain.tokens.plain, [other, to], { blockNumber: block });
      deepEqual(
        [await at(number), await at(number + 1n), await at(number + 2n)],
        [
          [0n, 0n],
          [0n, 11n],
          [12n, 11n],
        ],
      );
    });

    test("a reorg removes transactions that are not mined again, with their balances and proofs", async () => {
      const to = newAddress();
      await chain.mine(2);
      const lost = await pay(to, 21n);
      await chain.mine();
      const oldHead = await head();
      const [before] = await chain.reader.transfers({ blockHash: oldHead.hash, blockNumber: oldHead.number }, [
        chain.tokens.plain,
      ]);
      await chain.reorg(1);
      const now = await head();
      equal(now.number, oldHead.number);
      ok(now.hash !== oldHead.hash);
      equal(now.parentHash, oldHead.parentHash);
      deepEqual(await chain.reader.proofs([lost]), []);
      deepEqual(await chain.reader.balances(chain.tokens.plain, [to], { blockNumber: now.number }), [0n]);
      deepEqual(
        await chain.reader.transfers({ blockHash: now.hash, blockNumber: now.number }, [chain.tokens.plain]),
        [],
      );
      // A node may still have a replaced block or not. Its answer for that block never changes.
      const afterwards = await chain.reader
        .transfers({ blockHash: oldHead.hash, blockNumber: oldHead.number }, [chain.tokens.plain])
        .catch((error) => {
          if (!isUnknownBlock(error)) throw error;
          return [before];
        });
      deepEqual(afterwards, [before]);
      equal((await chain.reader.block({ number: oldHead.number }))?.hash, now.hash);
    });

    test("transactions that are mined again have new places, and each transfer keeps its identity", async () => {
      const [to, other] = [newAddress(), newAddress()];
      await chain.mine(2);
      const [one, two] = chain.payers;
      const first = await chain.pay(one, { token: chain.tokens.plain, to, units: 31n });
      const second = await chain.pay(two, { token: chain.tokens.plain, to: other, units: 32n });
      await chain.mine();
      const oldHead = await head();
      const placeOf = async (chainTx: string) => {
        const [proof] = await chain.reader.proofs([chainTx]);
        const transfers = await chain.reader.transfers(
          { blockHash: proof?.blockHash ?? "", blockNumber: proof?.blockNumber ?? 0n },
          [chain.tokens.plain],
        );
        return transfers.find((transfer) => transfer.chainTx === chainTx)?.place;
      };
      const before = [await placeOf(first), await placeOf(second)];
      const identities = [await identitiesTo(to, first), await identitiesTo(other, second)];
      await chain.mine();
      await chain.reorg(2, before[0] === 0n ? [second, first] : [first, second]);
      const [proof] = await chain.reader.proofs([first]);
      equal(proof?.blockNumber, oldHead.number);
      ok(proof?.blockHash !== oldHead.hash);
      deepEqual([await placeOf(first), await placeOf(second)], before.toReversed());
      deepEqual([await amountsTo(to, first), await amountsTo(other, second)], [[31n], [32n]]);
      deepEqual([await identitiesTo(to, first), await identitiesTo(other, second)], identities);
    });

    test("a token without return values shows its transfers like any other", async () => {
      const { reader, tokens } = chain;
      const to = newAddress();
      const chainTx = await pay(to, 41n, tokens.silent);
      await chain.mine();
      deepEqual(await amountsTo(to, chainTx, tokens.silent), [41n]);
      equal(await reader.tokenDecimals(tokens.silent), 6);
    });

    test("a token with a transfer tax shows the received amount", async () => {
      const { reader, tokens } = chain;
      const to = newAddress();
      const chainTx = await pay(to, 1_000n, tokens.taxed);
      await chain.mine();
      deepEqual(await amountsTo(to, chainTx, tokens.taxed), [990n]);
      deepEqual(await reader.balances(tokens.taxed, [to], { blockNumber: (await head()).number }), [990n]);
    });
  });
}
