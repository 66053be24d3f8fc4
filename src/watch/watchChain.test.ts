import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import type { Hex } from "viem";
import { ProviderFailed } from "../chain/driver.ts";
import { ChainRefused } from "../chain/providers.ts";
import type { Db } from "../db/database.ts";
import { DEV_ACCOUNTS } from "../cli/dev/accounts.ts";
import { connect } from "../cli/dev/client.ts";
import { transferCall } from "../cli/dev/tokens.ts";
import { startTestChain, type TestChain } from "../../test/support/chain.ts";
import { openTestDatabase } from "../../test/support/database.ts";
import { insertIntent } from "../../test/support/intents.ts";
import { movementsOf, openTestChain, watchWorld, type Bend } from "../../test/support/watching.ts";
import { watchChain } from "./watchChain.ts";

const USDC = 1_000_000n;

describe("watching a chain", () => {
  let db: Db;
  let chain: TestChain;

  before(async () => {
    chain = await startTestChain();
  });
  after(() => chain.stop());
  beforeEach(async (context) => {
    db = await openTestDatabase("pglite");
    context.after?.(() => db.close());
  });

  /** A watcher that has begun at the present head. */
  async function begin(...bends: readonly Bend[]) {
    const world = watchWorld(db, chain);
    const watched = openTestChain(chain, ...bends);
    const look = async () => watchChain(world, watched);
    await look();
    return { world, chain: watched, look };
  }

  async function newInbox(): Promise<Hex> {
    return (await insertIntent(db)).inbox_address as Hex;
  }

  test("a payment is one movement, with its place inside its own receipt", async () => {
    const { look } = await begin();
    const [inbox, other] = [await newInbox(), await newInbox()];
    const receipts = await chain.payTogether([
      { token: chain.usdc.address, to: other, amountUnits: 1n },
      { token: chain.usdc.address, to: inbox, amountUnits: 5n * USDC },
    ]);
    const { advancedTo } = await look();
    const receipt = receipts[1];
    equal(advancedTo, receipt?.blockNumber);
    const movement = (await movementsOf(db, chain)).find((row) => row.inbox === inbox);
    equal(movement?.amount_units, 5n * USDC);
    equal(movement?.chain_tx, receipt?.transactionHash);
    equal(movement?.direction, "in");
    equal(movement?.counterparty, DEV_ACCOUNTS.payer.address.toLowerCase());
    ok((movement?.log_index ?? 0) > (movement?.position ?? 0), "its place in the block counts the other transaction's logs");
    equal(movement?.position, 0);
  });
});
void [rejects, deepEqual, ProviderFailed, ChainRefused, connect, transferCall];
