import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import { pino } from "pino";
import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { ScriptedOneShotNode } from "../sim/oneShot/oneShotNode.ts";
import { createOneShotChain } from "../sim/oneShot/oneShotSender.ts";
import { ScriptedChain } from "../sim/chain/scriptedChain.ts";
import { openScriptedNode } from "../sim/chain/scriptedNode.ts";
import { tokenCalls } from "../sim/chain/token.ts";
import type { ScriptedTransaction } from "../sim/chain/transaction.ts";
import type { ChainUnderTest, EvmChainUnderTest, TestTokens, Transfer } from "./chainUnderTest.ts";
import { hubInboxes } from "./inboxTerms.ts";

const CHAIN_ID = 31_337;
const OWNER = `0x${"0e".repeat(20)}`;
const PAYERS = [`0x${"a1".repeat(20)}`, `0x${"a2".repeat(20)}`] as const;
const TOKENS: TestTokens = {
  plain: `0x${"c1".repeat(20)}`,
  silent: `0x${"c2".repeat(20)}`,
  taxed: `0x${"c3".repeat(20)}`,
};
const INITIAL_UNITS = 10n ** 15n;

const world = { clock: systemClock, log: pino({ level: "silent" }) };
const gasAccount = openGasAccount(`0x${"11".repeat(32)}`);

/** The simulations' model of an EVM chain. */
export async function openScriptedChain(): Promise<EvmChainUnderTest> {
  const { scripted, ...underTest } = createScripted();
  const node = openScriptedNode(scripted);
  return { ...underTest, node, reader: node, chain: createEvmChain({ nodes: [node], gasAccount }, world), gasAccount };
}

/** The simulations' model of a kind without nonces and logs. */
export async function openOneShotChain(): Promise<ChainUnderTest> {
  const { scripted, ...underTest } = createScripted();
  const node = new ScriptedOneShotNode(scripted);
  const chain = createOneShotChain({ nodes: [node], payer: gasAccount.address }, world);
  return { ...underTest, reader: node, chain };
}

function createScripted(): Omit<EvmChainUnderTest, "reader" | "chain" | "node" | "gasAccount"> & {
  scripted: ScriptedChain;
} {
  const kinds = Object.entries(TOKENS) as [keyof TestTokens, string][];
  const chain = new ScriptedChain({
    chainId: CHAIN_ID,
    tokens: kinds.map(([kind, address]) => ({ address, symbol: kind, decimals: 6, kind, owner: OWNER })),
    units: kinds.flatMap(([, token]) => PAYERS.map((owner) => ({ token, owner, units: INITIAL_UNITS }))),
    wei: [{ address: gasAccount.address, wei: 10n ** 24n }],
  });
  for (let block = 0; block < 5; block += 1) chain.mine();
  const call = ({ token, to, units }: Transfer) => ({ to: token, data: tokenCalls.transfer(to, units) });
  const callAsIssuer = (data: string) => {
    chain.send({ from: OWNER, calls: [{ to: TOKENS.plain, data }] });
    chain.mine();
  };
  return {
    scripted: chain,
    ...hubInboxes(CHAIN_ID, TOKENS.plain),
    tokens: TOKENS,
    payers: PAYERS,
    pay: async (from, transfer) => chain.send({ from, calls: [call(transfer)] }),
    payInOneTransaction: async (transfers, ending = "keeps") => {
      const [from] = PAYERS;
      const calls = transfers.map(call);
      return { from, chainTx: chain.send({ from, calls, ignoresCallFailures: true, reverts: ending === "reverts" }) };
    },
    mine: async (blocks = 1) => {
      for (let mined = 0; mined < blocks; mined += 1) chain.mine();
    },
    reorg: async (depth, kept = []) => {
      const selectNext = (among: readonly ScriptedTransaction[]) =>
        kept.map((chainTx) => among.find((one) => one.chainTx === chainTx)).find((one) => one !== undefined);
      chain.reorg(depth, {
        longerBy: 0,
        isLost: ({ chainTx }) => !kept.includes(chainTx),
        selectTransaction: selectNext,
      });
    },
    blocklist: async (account) => callAsIssuer(tokenCalls.block(account)),
    unblocklist: async (account) => callAsIssuer(tokenCalls.unblock(account)),
    close: async () => undefined,
  };
}
