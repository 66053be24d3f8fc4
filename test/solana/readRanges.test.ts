import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { ProviderFailed } from "../../src/chain/reader.ts";
import { ReaderScene, USDC } from "../support/solanaInboxes.ts";

describe("ranges of blocks on Solana", () => {
  let scene: ReaderScene;
  before(async () => {
    scene = await ReaderScene.open();
  });
  after(() => scene.close());

  test("the places of a block follow its transactions, and a range holds what its blocks hold", async () => {
    const [one, two] = [scene.inboxes.create(), scene.inboxes.create()];
    scene.solana.control.nextSlot();
    const chainTxs = [scene.pay(one, 1n), scene.pay(two, 2n), scene.pay(one, 3n)];
    scene.solana.control.confirm();
    const { number: toBlock } = await scene.reader.head("latest");
    const range = { fromBlock: toBlock - 3n, toBlock };
    const found = await scene.reader.transfers(range, [USDC], [one.address, two.address]);
    deepEqual(
      found.map((each) => each.chainTx),
      chainTxs,
    );
    ok(found.every((each, index) => index === 0 || each.place > (found[index - 1]?.place ?? 0n)));
    const { blockHash = "", blockNumber = 0n } = found[0] ?? {};
    deepEqual(await scene.reader.transfers({ blockHash, blockNumber }, [USDC], [one.address, two.address]), found);
    deepEqual(await scene.reader.transfers({ ...range, toBlock: blockNumber - 1n }, [USDC], [one.address]), []);
    const isUnknown = (error: unknown) => error instanceof ProviderFailed && error.kind === "unknown_block";
    await rejects(scene.reader.transfers({ blockHash: USDC, blockNumber }, [USDC], [one.address]), isUnknown);
    await rejects(scene.reader.transfers({ ...range, toBlock: toBlock + 9n }, [USDC], [one.address]), isUnknown);
  });

  test("a range with too many transactions is refused with one that fits; one block never is", async () => {
    const inbox = scene.inboxes.create();
    scene.send(scene.open(inbox));
    const from = scene.startBlock();
    for (let count = 0; count < 130; count += 1) {
      scene.send(scene.transfer(inbox.tokenAccount, 1n));
      if (count % 20 === 19) scene.solana.control.nextSlot();
    }
    scene.solana.control.confirm();
    const { number: toBlock } = await scene.reader.head("latest");
    let blocks = 0n;
    await rejects(scene.reader.transfers({ fromBlock: from, toBlock }, [USDC], [inbox.address]), (error) => {
      if (!(error instanceof ProviderFailed) || error.kind !== "range_too_large") return false;
      blocks = error.suggestion?.blocks ?? 0n;
      return true;
    });
    equal(blocks, 5n);
    const first = await scene.reader.transfers(
      { fromBlock: from, toBlock: from + blocks - 1n },
      [USDC],
      [inbox.address],
    );
    const rest = await scene.reader.transfers({ fromBlock: from + blocks, toBlock }, [USDC], [inbox.address]);
    deepEqual([first.length, rest.length], [100, 30]);
  });
});
