import assert from "node:assert/strict";
import { test } from "node:test";
import { buildSettle, buildBridge } from "@tributary/inbox/solana/instructions";
import { deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import { DOMAIN_BASE, LOCAL_LIMIT, readBurnMessage } from "./support/cctpWorld.ts";
import { Random } from "./support/random.ts";
import { Scene } from "./support/scene.ts";
import { createKeypair } from "./support/world.ts";

const SETTLEMENTS = 9_000;
const BURNS = 1_000;
const FEES = 60;
const U64_MAX = 2n ** 64n - 1n;
const EDGES = [1n, 2n, 9_999n, 10_000n, 10_001n, 999_999n, 1_000_001n, 2n ** 32n, 2n ** 63n, U64_MAX];

const random = new Random("exact amounts");

/** Amounts of every size, and the edges. */
function anyAmount(): bigint {
  return random.below(8) === 0 ? random.pick(EDGES) : random.u64() >> BigInt(random.below(63));
}

test(`${SETTLEMENTS} settlements of any amount at any fee are exact to the unit`, () => {
  const scene = new Scene();
  const { world, stranger, payoutAccount, feeAccount } = scene;
  const settlements = Array.from({ length: FEES }, (_, index) => {
    const feeBps = [0, 1, 9_99, 1_000][index] ?? random.below(1_001);
    const inbox = scene.paid(1n, { feeBps });
    return { feeBps: BigInt(feeBps), inbox, instruction: buildSettle([inbox]) };
  });
  for (let run = 0; run < SETTLEMENTS; run += 1) {
    const { feeBps, inbox, instruction } = settlements[run % FEES] ?? assert.fail();
    const units = anyAmount();
    world.setUnits(inbox.tokenAccount, units);
    world.setUnits(payoutAccount, 0n);
    world.setUnits(feeAccount, 0n);
    world.must([stranger], [instruction]);
    const fee = (units * feeBps) / 10_000n;
    const found = [world.units(payoutAccount), world.units(feeAccount), world.units(inbox.tokenAccount)];
    assert.deepEqual(found, [units - fee, fee, 0n], `${units} at ${feeBps}`);
  }
});

test(`${BURNS} burns of any amount are exact to the unit`, () => {
  const scene = new Scene();
  const { world, stranger, mint } = scene;
  const burns = Array.from({ length: FEES }, () => {
    const feePpmMax = random.pick([0, 1, 100_000, random.below(100_001)]);
    const route = { feePpmMax, finalityThreshold: 1 + random.below(2_000) };
    const inbox = scene.paidHop(1n, { minAmount: 0n, routes: [route, route] });
    const cctp = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: inbox.address });
    const event = createKeypair();
    const options = { cctp, payer: stranger.address, event: event.address, route: 1 } as const;
    return {
      feePpmMax: BigInt(feePpmMax),
      inbox,
      event,
      localToken: cctp.localToken,
      instruction: buildBridge(inbox, options),
    };
  });
  for (let run = 0; run < BURNS; run += 1) {
    const { feePpmMax, inbox, event, instruction, localToken } = burns[run % FEES] ?? assert.fail();
    const units = anyAmount() + 2n > U64_MAX ? U64_MAX : (anyAmount() % (U64_MAX - 2n)) + 2n;
    const limit = random.below(2) === 0 ? U64_MAX : units / 2n + 2n;
    world.setUnits(inbox.tokenAccount, units);
    world.edit(mint, (data) => data.writeBigUInt64LE(U64_MAX, 36));
    world.edit(localToken, (data) => {
      data.fill(0, 80, 112);
      data.writeBigUInt64LE(limit, LOCAL_LIMIT);
    });
    world.remove(event.address);
    world.must([stranger, event], [instruction]);
    const burned = units < limit ? units : limit;
    const { amount, feeMax } = readBurnMessage(world, event.address);
    assert.deepEqual(
      [amount, world.units(inbox.tokenAccount), U64_MAX - world.supply(mint)],
      [burned, units - burned, burned],
    );
    assert.equal(feeMax, (burned * feePpmMax + 999_999n) / 1_000_000n, `${burned} at ${feePpmMax}`);
  }
});
