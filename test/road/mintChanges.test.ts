import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { updateAlarms, activeAlarms } from "../../src/alarm/updateAlarms.ts";
import type { Asset } from "../../src/catalog/catalog.ts";
import { LOCAL_MINTS } from "../../packages/local-solana/src/fixtures.ts";
import { loadIssuingPredicate } from "../../src/inbox/originSwitch.ts";
import type { IntentRow } from "../../src/intent/store.ts";
import { createLoops } from "../../src/loops/runLoops.ts";
import { openSolanaRoad, type SolanaRoad } from "../support/solanaRoad.ts";
import { drawBytes } from "../support/drawBytes.ts";

// An issuer changes a mint while the service runs.

const USDC = 1_000_000n;
const MINT = LOCAL_MINTS.USDC.address;
const EXTENSIONS = 166;
const [TRANSFER_FEE, TRANSFER_HOOK] = [1, 14];
const DAY_MS = 86_400_000;

describe("a mint that changes after the start", () => {
  let road: SolanaRoad;
  before(async () => {
    road = await openSolanaRoad();
    await checkTokens();
  });
  after(() => road.close());

  /** Runs the loop of the service that reads the mints again. Returns the wait until its next run. */
  async function checkTokens(): Promise<number> {
    const loop = createLoops(road.world).find(({ name }) => name.startsWith("check tokens"));
    assert.ok(loop, "no loop checks the tokens");
    await loop.tick();
    return loop.intervalMs;
  }

  function editMint(change: (data: Buffer) => Buffer): () => void {
    const { control } = road.solana;
    const stored = control.account(MINT);
    assert.ok(stored);
    control.setAccount(MINT, { ...stored, data: change(Buffer.from(stored.data)) });
    control.finalize();
    return () => {
      control.setAccount(MINT, stored);
      control.finalize();
    };
  }

  const withExtensions = (mint: Buffer, ...types: number[]) => {
    const data = Buffer.alloc(EXTENSIONS + types.length * 8);
    mint.copy(data, 0, 0, 82);
    data.writeUInt8(1, EXTENSIONS - 1);
    types.forEach((type, index) => {
      data.writeUInt16LE(type, EXTENSIONS + index * 8);
      data.writeUInt16LE(4, EXTENSIONS + index * 8 + 2);
    });
    return data;
  };

  const isIssuing = async () => {
    const [origin] = road.world.catalog.assets as [Asset];
    return (await loadIssuingPredicate(road.world))(origin);
  };
  const raised = async () => {
    await updateAlarms(road.world);
    return activeAlarms(road.world).filter(({ alarm }) => alarm === "token_changed");
  };
  const isCounted = (intent: IntentRow) => async () => (await road.intent(intent)).counted_units > 0n;
  const refusalOf = async (intent: IntentRow) => (await road.settlements(intent))[0]?.reason ?? null;

  test("with a transfer fee or a hook it issues no address and settles nothing, until it is right again", async () => {
    const intent = await road.create();
    road.pay(intent, 10n * USDC);
    assert.ok((await checkTokens()) <= DAY_MS, "it is checked once a day at least");
    assert.equal(await isIssuing(), true);
    const restore = editMint((data) => withExtensions(data, TRANSFER_FEE, TRANSFER_HOOK));
    assert.ok((await checkTokens()) <= 60_000, "it is checked more often while it is wrong");
    assert.equal(await isIssuing(), false);
    const [alarm] = await raised();
    assert.equal(alarm?.facts["token"], MINT);
    assert.match(String(alarm?.facts["reason"]), /transferFee, transferHook$/);
    assert.equal(alarm?.facts["holdsSettlements"], true);
    await road.until(isCounted(intent));
    await road.until(async () => (await refusalOf(intent)) !== null);
    assert.match(
      (await refusalOf(intent)) ?? "",
      /^settle_refused the mint has extensions .* transferFee, transferHook$/,
    );
    assert.equal(road.unitsOf(intent.inbox_address), 10n * USDC, "the money stays in its inbox");
    restore();
    await checkTokens();
    assert.equal(await isIssuing(), true);
    assert.deepEqual(await raised(), []);
    await road.untilLanded(intent);
  });

  test("with another freeze authority it issues no address, and still settles", async () => {
    const intent = await road.create({ payoutWallet: road.payout.address, merchantReference: "authority" });
    road.pay(intent, 10n * USDC);
    const restore = editMint((data) => {
      data.writeUInt32LE(1, 46);
      data.set(drawBytes(32), 50);
      return data;
    });
    await checkTokens();
    assert.equal(await isIssuing(), false);
    const [alarm] = await raised();
    assert.match(String(alarm?.facts["reason"]), /^has other authorities than at the start/);
    assert.equal(alarm?.facts["holdsSettlements"], false);
    await road.untilLanded(intent, 1);
    restore();
    await checkTokens();
    assert.equal(await isIssuing(), true);
    assert.deepEqual(await raised(), []);
  });
});
