import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ProviderFailed, type BlockRef } from "../../src/chain/reader.ts";
import type { SettlingChainUnderTest } from "./chainUnderTest.ts";

const UNKNOWN_BLOCKS = 9n;

/**
 * Tests the assumptions of the service about every reader: those that list each block, and those that are read by
 * accounts and know no past balances. Both are asked by parties.
 */
export function describeAnyReaderConformance(name: string, open: () => Promise<SettlingChainUnderTest>): void {
  describe(`chain conformance: any reader, ${name}`, () => {
    let chain: SettlingChainUnderTest;
    before(async () => {
      chain = await open();
    });
    after(() => chain.close());

    const head = () => chain.reader.head("latest");
    const pay = (to: string, units: bigint, from = chain.payers[0]) =>
      chain.pay(from, { token: chain.tokens.plain, to, units });
    const isUnknownBlock = (error: unknown) => error instanceof ProviderFailed && error.kind === "unknown_block";
    const inBlock = ({ hash: blockHash, number: blockNumber }: BlockRef, parties: string[]) =>
      chain.reader.transfers({ blockHash, blockNumber }, [chain.tokens.plain], parties);
    /** What an address holds at the head. */
    async function held(owner: string): Promise<bigint | undefined> {
      const { reader, tokens } = chain;
      if (reader.holdings) return (await reader.holdings(tokens.plain, [owner])).units[0];
      return (await reader.balances(tokens.plain, [owner], { blockNumber: (await head()).number }))[0];
    }
    /** Another hash with the characters of this one. */
    const shuffle = (hash: string) => `${hash.slice(0, 2)}${hash.slice(20)}${hash.slice(2, 20)}`;

    test("the reader serves the chain that it is opened for", async () => {
      const { caip2, genesisHash } = await chain.reader.identify();
      equal(caip2, chain.reader.caip2);
      equal((await chain.reader.identify()).genesisHash, genesisHash);
    });

    test("each block is its child's parent, and is found by its number and its hash", async () => {
      await chain.mine(3);
      const latest = await head();
      const parent = await chain.reader.block({ hash: latest.parentHash });
      equal(parent?.number, latest.number - 1n);
      deepEqual(await chain.reader.block({ number: latest.number - 1n }), parent);
      deepEqual(await chain.reader.block({ number: latest.number }), latest);
      deepEqual(await chain.reader.block({ hash: latest.hash }), latest);
      const [safe, finalized] = [await chain.reader.head("safe"), await chain.reader.head("finalized")];
      ok(safe.number <= latest.number && finalized.number < safe.number);
      deepEqual(await chain.reader.block({ number: finalized.number }), finalized);
    });

    test("an unknown block is undefined, and its transfers are an error", async () => {
      const latest = await head();
      const hash = shuffle(latest.hash);
      equal(await chain.reader.block({ number: latest.number + UNKNOWN_BLOCKS }), undefined);
      equal(await chain.reader.block({ hash }), undefined);
      await rejects(inBlock({ ...latest, hash }, [chain.newAddress()]), isUnknownBlock);
    });

    test("a payment shows only in its block, with an identity that its proof confirms", async () => {
      const to = chain.newAddress();
      const earlier = await head();
      const chainTx = await pay(to, 7n);
      deepEqual(await chain.reader.proofs([chainTx]), []);
      await chain.mine();
      const block = await head();
      const [proof] = await chain.reader.proofs([chainTx]);
      deepEqual([proof?.succeeded, proof?.blockHash, proof?.blockNumber], [true, block.hash, block.number]);
      const [transfer, ...others] = await inBlock(block, [to]);
      deepEqual(others, []);
      deepEqual(
        [transfer?.token, transfer?.from, transfer?.to, BigInt(transfer?.amountText ?? 0)],
        [chain.tokens.plain, chain.payers[0], to, 7n],
      );
      deepEqual([transfer?.chainTx, transfer?.blockHash], [chainTx, block.hash]);
      ok(proof?.identityAt(transfer?.place ?? -1n));
      equal(proof?.identityAt((transfer?.place ?? 0n) + 4_000_000n), undefined);
      deepEqual(await inBlock(earlier, [to]), []);
      deepEqual(await inBlock(block, [chain.newAddress()]), []);
      equal(await held(to), 7n);
    });

    test("a range holds what its blocks hold, in the order of the chain, and never less", async () => {
      const [to, other] = [chain.newAddress(), chain.newAddress()];
      await chain.mine();
      const { number: fromBlock } = await head();
      await pay(to, 1n);
      await chain.mine();
      await pay(other, 2n);
      await pay(to, 3n, chain.payers[1]);
      await chain.mine();
      const { number: toBlock } = await head();
      const amounts = async (range: { fromBlock: bigint; toBlock: bigint }, parties: string[]) =>
        (await chain.reader.transfers(range, [chain.tokens.plain], parties)).map(({ amountText }) =>
          BigInt(amountText),
        );
      deepEqual(await amounts({ fromBlock, toBlock }, [to]), [1n, 3n]);
      deepEqual((await amounts({ fromBlock, toBlock }, [to, other])).length, 3);
      deepEqual(await amounts({ fromBlock, toBlock: toBlock - 1n }, [to, other]), [1n]);
      deepEqual(await amounts({ fromBlock: toBlock, toBlock }, [to]), [3n]);
      deepEqual(await chain.reader.transfers({ fromBlock, toBlock }, [], [to]), []);
      const beyond = await amounts({ fromBlock, toBlock: toBlock + UNKNOWN_BLOCKS }, [to]).catch((error: unknown) => {
        if (!isUnknownBlock(error)) throw error;
        return [1n, 3n];
      });
      deepEqual(beyond, [1n, 3n]);
    });

    test("a reorg takes transactions back, with their proofs and holdings", async () => {
      const to = chain.newAddress();
      await chain.mine(4);
      const kept = await head();
      const lost = await pay(to, 21n);
      await chain.mine();
      const oldHead = await head();
      equal(await held(to), 21n);
      await chain.reorg(1);
      await chain.mine();
      deepEqual(await chain.reader.proofs([lost]), []);
      equal(await held(to), 0n);
      deepEqual(await chain.reader.block({ number: kept.number }), kept);
      const replaced = await chain.reader.block({ number: oldHead.number });
      ok(replaced && replaced.hash !== oldHead.hash);
      equal(replaced.parentHash, oldHead.parentHash);
      deepEqual(await inBlock(replaced, [to]), []);
    });

    test("transfers of one transaction have places and identities of their own", async () => {
      const [to, other] = [chain.newAddress(), chain.newAddress()];
      const token = chain.tokens.plain;
      const { chainTx, from } = await chain.payInOneTransaction([
        { token, to, units: 5n },
        { token, to: other, units: 5n },
      ]);
      await chain.mine();
      const transfers = await inBlock(await head(), [to, other]);
      const [proof] = await chain.reader.proofs([chainTx]);
      deepEqual(new Set(transfers.map((each) => each.to)), new Set([to, other]));
      ok(transfers.every((each) => each.from === from && each.chainTx === chainTx && BigInt(each.amountText) === 5n));
      equal(new Set(transfers.map(({ place }) => place)).size, 2);
      const identities = transfers.map(({ place }) => proof?.identityAt(place));
      equal(new Set(identities).size, 2);
      ok(!identities.includes(undefined));
    });

    test("a transaction that is mined again after a reorg is in another block, and its transfer keeps its identity", async () => {
      const [to, other] = [chain.newAddress(), chain.newAddress()];
      await chain.mine(4);
      const first = await pay(to, 31n);
      const second = await pay(other, 32n, chain.payers[1]);
      await chain.mine();
      const identityOf = async (chainTx: string, owner: string) => {
        const [proof] = await chain.reader.proofs([chainTx]);
        if (!proof) return { blockHash: undefined, identity: undefined };
        const { blockHash, blockNumber: number } = proof;
        const [transfer] = await inBlock({ ...(await head()), hash: blockHash, number }, [owner]);
        return { blockHash, identity: proof.identityAt(transfer?.place ?? -1n) };
      };
      const before = [await identityOf(first, to), await identityOf(second, other)];
      await chain.reorg(1, [second, first]);
      await chain.mine();
      const after = [await identityOf(first, to), await identityOf(second, other)];
      ok(before.every(({ identity }) => identity !== undefined));
      deepEqual(
        after.map(({ identity }) => identity),
        before.map(({ identity }) => identity),
      );
      ok(after.every(({ blockHash }) => blockHash !== undefined && blockHash !== before[0]?.blockHash));
      deepEqual([await held(to), await held(other)], [31n, 32n]);
    });

    test("a token has its decimals, and an address without a token none", async () => {
      equal(await chain.reader.tokenDecimals(chain.tokens.plain), 6);
      equal(await chain.reader.tokenDecimals(chain.newAddress()), undefined);
    });

    test("holdings are in the order of their owners, and balances of a past block are right or refused", async () => {
      const [one, two] = [chain.newAddress(), chain.newAddress()];
      const past = await head();
      await pay(one, 5n);
      await chain.mine();
      await pay(two, 6n);
      await chain.mine();
      deepEqual([await held(two), await held(one)], [6n, 5n]);
      const { reader, tokens } = chain;
      if (reader.holdings) {
        const { blockNumber, units } = await reader.holdings(tokens.plain, [two, chain.newAddress(), one]);
        deepEqual(units, [6n, 0n, 5n]);
        equal(blockNumber, (await head()).number);
      }
      const before = reader.balances(tokens.plain, [one, two], { blockNumber: past.number });
      if (reader.holdings) await rejects(before, isUnknownBlock);
      else deepEqual(await before, [0n, 0n]);
    });
  });
}
