import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { openDatabase, type Db } from "../../src/db/database.ts";
import type { WatchStatus } from "../../src/operator/getWatchStatus.ts";
import { addMs, systemClock } from "../../src/kernel/clock.ts";
import { createDatabaseOn, startOwnServer } from "../support/database.ts";
import type { PostgresServer } from "../support/postgres.ts";
import { FakeChain } from "../support/fakeChain.ts";
import { openFakeProvider, type FakeProvider } from "../support/fakeProvider.ts";
import { runCli, spawnCli, temporaryFolder } from "../support/cli.ts";
import { onlyDeep } from "../support/runNumber.ts";

// The scan progress that the operator sees. It comes from the database, on any machine, and from the chain's providers.

const CHAIN = "eip155:900001";
const BLOCKS = 5_000;

describe("tributary watch status", () => {
  const folder = temporaryFolder();
  let server: PostgresServer;
  let url: string;
  let db: Db;
  let config: string;
  const providers: FakeProvider[] = [];
  const chain = new FakeChain(900_001);

  before(async () => {
    for (let mined = 0; mined < BLOCKS; mined += 1) chain.mine();
    providers.push(await openFakeProvider(chain), await openFakeProvider(chain, { nodeLags: [3] }));
    server = await startOwnServer({ isDurable: true });
    url = await createDatabaseOn(server, "watched");
    db = await openDatabase({ url });
    config = join(folder.path, "config.json");
    writeFileSync(config, JSON.stringify(configOf(providers.map(({ url }) => url))));
  });
  after(async () => {
    await db.close();
    await server.remove();
    await Promise.all(providers.map((provider) => provider.close()));
    folder.remove();
  });

  const variables = () => ({
    TRIBUTARY_HOME: folder.path,
    TRIBUTARY_DATABASE_URL: url,
    GAS: `0x${"11".repeat(32)}`,
  });
  const runStatus = (...words: string[]) => runCli(["watch", "status", "--config", config, ...words], variables());

  async function setCursor(number: bigint, { agoMs = 0, isForked = false } = {}): Promise<void> {
    const row = {
      number,
      hash: isForked ? `0x${number}` : (chain.blocks[Number(number)]?.hash ?? ""),
      safe_number: number - 10n,
      finalized_number: -1n,
      reread_number: number - 20n,
      updated_at: addMs(systemClock.now(), -agoMs),
    };
    await db.root
      .insertInto("chain_cursor")
      .values({ chain: CHAIN, genesis_hash: "0x00", ...row })
      .onConflict((conflict) => conflict.column("chain").doUpdateSet(row))
      .execute();
  }

  test("a chain without a cursor is shown as never scanned", async () => {
    const { code, out } = await runStatus();
    assert.equal(code, 0);
    assert.match(out, /^Own \(eip155:900001\): never scanned$/m);
    assert.match(out, /^ {2}head +5,000$/m);
  });

  test("at the head, it shows blocks, finality and the head of each provider", async () => {
    await setCursor(4_999n);
    const { out, err } = await runStatus();
    assert.equal(err, "");
    assert.match(out, /^Own \(eip155:900001\): at the head$/m);
    assert.match(out, /^ {2}behind +1 block, 2 s$/m);
    assert.match(out, /^ {2}safe, final +4,989, none$/m);
    assert.match(out, /^ {2}read again to +4,979$/m);
    assert.match(out, /^ {2}last scan +\d+ s ago$/m);
    assert.match(out, /^ {2}provider +127\.0\.0\.1:\d+ at 5,000$/m);
    assert.match(out, /^ {2}provider +127\.0\.0\.1:\d+ at 4,997$/m);
  });

  test("behind the head, it shows the lag in blocks and chain time, and the pace of two samples", async () => {
    await setCursor(1_000n);
    const { out } = await runStatus();
    assert.match(out, /^Own \(eip155:900001\): catching up$/m);
    assert.match(out, /^ {2}behind +4,000 blocks, 2 h 13 min$/m);
    assert.match(out, /^ {2}pace +0 blocks\/s, falling behind$/m);
  });

  test("it shows the error of a failing provider, and that no process watches the chain", async () => {
    await setCursor(4_999n, { agoMs: 120_000 });
    const [, second] = providers;
    assert.ok(second);
    second.profile = { rate: { oneIn: 1, error: { code: -32005, message: "daily request count exceeded" } } };
    const { out } = await runStatus();
    assert.match(out, /not watched/);
    assert.match(out, /^ {2}provider +127\.0\.0\.1:\d+ answered HTTP 429: .*daily request count exceeded/m);
    second.profile = {};
  });

  test("it shows a provider with another block, and one far behind", async () => {
    await setCursor(5_000n, { isForked: true });
    const [, second] = providers;
    assert.ok(second);
    second.profile = { nodeLags: [100] };
    const { out } = await runStatus();
    assert.match(out, /^ {2}provider +127\.0\.0\.1:\d+ at 5,000, differs from the recorded chain$/m);
    assert.match(out, /^ {2}provider +127\.0\.0\.1:\d+ at 4,900, far behind$/m);
    const agreements = (JSON.parse((await runStatus("--json")).out) as WatchStatus[])[0]?.providers.map(
      ({ agreement }) => agreement,
    );
    assert.deepEqual(agreements, ["differs", "behind"]);
    second.profile = { nodeLags: [3] };
  });

  test(
    "--follow --json prints a line with pace and time left every two seconds until SIGINT",
    { skip: onlyDeep },
    async (t) => {
      await setCursor(1_000n);
      const child = spawnCli(["watch", "status", "--config", config, "--follow", "--json"], variables());
      t.after(() => child.kill("SIGKILL"));
      assert.ok(child.stdout);
      const readings: (WatchStatus & { blocksPerS: number | null; leftMs: number | null })[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        const [reading] = JSON.parse(line) as typeof readings;
        assert.ok(reading);
        readings.push(reading);
        if (readings.length === 1) await setCursor(2_000n);
        if (reading.recordedBlock === "2000") break;
      }
      const [first, last] = [readings[0], readings.at(-1)];
      assert.deepEqual([first?.recordedBlock, first?.behindBlocks, first?.leftMs], ["1000", "4000", null]);
      assert.deepEqual([last?.recordedBlock, last?.headBlock], ["2000", "5000"]);
      assert.ok((last?.blocksPerS ?? 0) > 0 && (last?.leftMs ?? 0) > 0);
      const ended = once(child, "exit");
      child.kill("SIGINT");
      assert.deepEqual(await ended, [0, null]);
    },
  );
});

function configOf(rpcUrls: readonly string[]): unknown {
  return {
    environment: "test",
    listen: { port: 1 },
    feeRecipient: `0x${"fe".repeat(20)}`,
    defaultRail: "own:usdc",
    chains: [
      {
        chainId: 900_001,
        name: "Own",
        slug: "own",
        rpcUrls,
        publicRpcUrl: rpcUrls[0],
        explorerUrl: "http://explorer.test",
        native: { name: "Ether", symbol: "ETH", decimals: 18 },
        gasKeyEnv: "GAS",
        pollMs: 200,
        settleAfterMs: 0,
        finality: [{ confirmations: 1 }],
        tokens: [{ symbol: "USDC", address: `0x${"c1".repeat(20)}`, decimals: 6 }],
        defaultToken: "USDC",
      },
    ],
  };
}
