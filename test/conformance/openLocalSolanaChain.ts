import { pino } from "pino";
import { Providers } from "../../src/chain/providers.ts";
import { openSolanaReader } from "../../src/chain/solana/read/solanaReader.ts";
import { createSenderContext } from "../../src/chain/solana/send/senderContext.ts";
import { SolanaSender } from "../../src/chain/solana/send/solanaSender.ts";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { createTokenAccount, findTokenAccount, transferTokens } from "../../packages/local-solana/src/instructions.ts";
import { startLocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import { caip2 } from "../../src/kernel/caip.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { createWallet, payTokens } from "../support/solana.ts";
import { openTestFeePayer, payInboxOf } from "../support/solanaSender.ts";
import { TEST_CHAIN_CONFIG } from "../support/stationWorld.ts";
import type { SettlingChainUnderTest } from "./chainUnderTest.ts";

const PAYER_UNITS = 10n ** 12n;
const COMPUTE_UNIT_PRICE_MAX = 1_000_000n;
const { payer, stranger, operator, feeRecipient } = SOLANA_ACCOUNTS;
const { USDC } = LOCAL_MINTS;

/** The local Solana, with slots by hand. A block is final after two more. */
export async function openLocalSolanaChain(): Promise<SettlingChainUnderTest> {
  const solana = await startLocalSolana({ clock: systemClock, slotMs: 0, finalizedAfter: 2 });
  const { control } = solana;
  const world = { clock: systemClock, log: pino({ level: "silent" }) };
  const chain = caip2("solana", solana.reference);
  const mint = USDC.address;
  const openAccount = createTokenAccount(operator.address, { owner: feeRecipient.address, mint });
  control.send([operator], [openAccount]);
  payTokens(solana, { to: stranger.address, units: PAYER_UNITS });
  control.nextSlot(5);
  const reader = openSolanaReader({ caip2: chain, url: solana.url, program: LOCAL_INBOX_PROGRAM });
  const providers = new Providers([reader], world);
  const context = createSenderContext(providers, {
    feePayer: openTestFeePayer(operator),
    program: LOCAL_INBOX_PROGRAM,
    feeRecipient: feeRecipient.address,
    tokenPrograms: new Map([[mint, USDC.program]]),
    computeUnitPriceMax: COMPUTE_UNIT_PRICE_MAX,
  });
  const setFrozen = async (owner: string, isFrozen: boolean) => {
    const holder = { owner, mint };
    if (isFrozen) control.send([operator], [createTokenAccount(operator.address, holder)]);
    control.setFrozen(findTokenAccount(holder), isFrozen);
    control.nextSlot();
  };
  return {
    reader,
    chain: {
      caip2: chain,
      detection: "balances",
      readers: [reader],
      providers,
      sender: new SolanaSender(context),
      feeds: [],
    },
    config: {
      ...TEST_CHAIN_CONFIG,
      tokens: [{ ...USDC, slug: "usdc", tokenProgram: USDC.program, minimumUnits: 0n, isOrigin: true, isRail: true }],
    },
    tokens: { plain: mint },
    payers: [payer.address, stranger.address],
    feeRecipient: feeRecipient.address,
    newAddress: () => createWallet(solana, 0n).address,
    newItem: (payout) => payInboxOf(operator.address, { payout }),
    // The first one closes the inbox's token account, and the program settles none that is missing.
    emptySettlementStatus: "reverted",
    pay: async (from, { token, to, units }) =>
      payTokens(solana, { to, units, mint: token, from: from === payer.address ? payer : stranger }),
    payInOneTransaction: async (transfers) => {
      const from = payer.address;
      const instructions = transfers.flatMap(({ token, to, units }) => [
        createTokenAccount(from, { owner: to, mint: token }),
        transferTokens({
          from: findTokenAccount({ owner: from, mint: token }),
          to: findTokenAccount({ owner: to, mint: token }),
          owner: from,
          mint: token,
          units,
        }),
      ]);
      return { from, chainTx: control.send([payer], instructions) };
    },
    mine: async (blocks) => control.nextSlot(blocks),
    reorg: async (depth, kept = []) => {
      // The open block, which the reader does not see, is replaced too.
      control.fork(depth + 1, { keep: kept });
      control.nextSlot(depth);
    },
    blocklist: (account) => setFrozen(account, true),
    unblocklist: (account) => setFrozen(account, false),
    close: async () => {
      await reader.close();
      await solana.stop();
    },
  };
}
