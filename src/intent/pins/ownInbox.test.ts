import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { computeInboxAddress } from "@tributary/inbox/address";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { tokenProgram } from "@tributary/inbox/solana/keys";
import { openTestDatabase, thoroughDatabase } from "../../../test/support/database.ts";
import { insertIntent, TEST_TOKEN } from "../../../test/support/intents.ts";
import {
  CLUSTER,
  MINT,
  SOLANA_FEE_PAYER,
  SOLANA_FEE_WALLET,
  SOLANA_PROGRAM,
  SOLANA_WALLET,
} from "../../../test/support/solanaConfig.ts";
import type { Db } from "../../db/database.ts";
import { toSettleItem } from "./ownInbox.ts";

let db: Db;
before(async () => {
  db = await openTestDatabase(thoroughDatabase);
});
after(() => db.close());

test("the terms of a payout on Solana give its inbox, and pay the fee to the fee wallet's token account", async () => {
  const payout = {
    payout_namespace: "solana",
    payout_chain_reference: CLUSTER,
    payout_wallet: SOLANA_WALLET,
    payout_token: MINT,
  } as const;
  const intent = await insertIntent(db, { ...payout, fee_bps: 50 });
  const item = toSettleItem(intent, MINT);
  assert.ok("kind" in item.terms);
  const { address } = computeSolanaInbox(item.terms, { program: item.hub, tokenProgram: item.tokenProgram ?? "" });
  assert.deepEqual([item.inbox, item.token, item.hub], [address, MINT, SOLANA_PROGRAM]);
  assert.equal(intent.inbox_address, address);
  const { feeAccount, feeBps, payout: wallet, rentRecipient, recovery, recoverAfter, salt } = item.terms;
  assert.equal(feeAccount, deriveTokenAccount(SOLANA_FEE_WALLET, MINT, tokenProgram).address);
  assert.deepEqual([feeBps, wallet, rentRecipient, recovery], [50, SOLANA_WALLET, SOLANA_FEE_PAYER, SOLANA_WALLET]);
  assert.deepEqual([BigInt(recoverAfter), salt], [intent.recover_after, intent.inbox_salt]);
});

test("the terms of a payout on an EVM chain give its inbox, and name no token program", async () => {
  const intent = await insertIntent(db);
  const { inbox, token, terms, tokenProgram: program } = toSettleItem(intent, TEST_TOKEN);
  assert.ok(!("kind" in terms));
  assert.deepEqual([computeInboxAddress(terms), token, program], [inbox, TEST_TOKEN, undefined]);
});
