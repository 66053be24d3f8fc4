import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { encodeFunctionData, getContractAddress, parseAbi, type Hex } from "viem";
import { pino } from "pino";
import { createEvmChain } from "../../src/chain/evm/openEvmChain.ts";
import { openEvmNode } from "../../src/chain/evm/rpcNode.ts";
import { openGasAccount } from "../../src/chain/evm/send/gasAccount.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { DEV_ACCOUNTS, type DevAccount } from "../../src/dev/devAccounts.ts";
import { signCalls, type ContractCall } from "../../src/dev/chains/devClient.ts";
import { transferCall } from "../../src/dev/chains/tokens.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { batchCalls } from "../support/watcher.ts";
import type { EvmChainUnderTest, Transfer } from "./chainUnderTest.ts";
import { hubInboxes } from "./inboxTerms.ts";

const { payer, stranger, issuer, operator } = DEV_ACCOUNTS;
const INITIAL_UNITS = 10n ** 15n;
const CREATION_GAS = 2_000_000n;

/** A real node with the real hub and Circle's token. It mines only on request. */
export async function openAnvilChain(): Promise<EvmChainUnderTest> {
  const chain = await startTestChain();
  const { client } = chain;
  const plain = chain.usdc.address;
  await chain.mint(plain, payer.address, INITIAL_UNITS);
  await chain.mint(plain, stranger.address, INITIAL_UNITS);
  const [silent, taxed] = [await deployOddToken(chain, "SilentToken"), await deployOddToken(chain, "TaxedToken")];
  await chain.mine(5);
  await client.setAutomine(false);
  const node = openEvmNode({ caip2: chain.caip2, rpcUrl: chain.rpcUrl });
  const gasAccount = openGasAccount(operator.privateKey);
  const mineImmediately = async (work: () => Promise<unknown>) => {
    await client.setAutomine(true);
    await work();
    await client.setAutomine(false);
  };
  const submitCall = async (account: DevAccount, call: ContractCall) => {
    const [serializedTransaction = "0x"] = await signCalls(client, account, [call]);
    return client.sendRawTransaction({ serializedTransaction });
  };
  const call = ({ token, to, units }: Transfer) => transferCall(token as Hex, to as Hex, units);
  return {
    node,
    reader: node,
    chain: createEvmChain({ nodes: [node], gasAccount }, { clock: systemClock, log: pino({ level: "silent" }) }),
    ...hubInboxes(chain.chainId, plain),
    tokens: { plain, silent, taxed },
    payers: [payer.address, stranger.address],
    gasAccount,
    pay: (from, transfer) => submitCall(from === payer.address ? payer : stranger, call(transfer)),
    payInOneTransaction: async (transfers, ending = "keeps") => {
      const nonce = await client.getTransactionCount({ address: stranger.address, blockTag: "pending" });
      const from = getContractAddress({ from: stranger.address, nonce: BigInt(nonce) }).toLowerCase() as Hex;
      await mineImmediately(() => chain.mint(plain, from, INITIAL_UNITS));
      return { from, chainTx: await submitCall(stranger, batchCalls(transfers.map(call), ending)) };
    },
    mine: (blocks = 1) => client.mine({ blocks }),
    reorg: async (depth, kept = []) => {
      const signed = await Promise.all(kept.map((chainTx) => chain.signedOf(chainTx as Hex)));
      await chain.reorg(
        depth,
        signed.map((bytes) => ({ signed: bytes, blockIndex: 0 })),
      );
    },
    blocklist: (account) => mineImmediately(() => chain.blocklist(plain, account as Hex)),
    unblocklist: (account) => mineImmediately(() => chain.unblocklist(plain, account as Hex)),
    close: async () => {
      await node.close();
      await chain.stop();
    },
  };
}

/** Deploys a non-standard token and mints to the payers. */
async function deployOddToken(chain: TestChain, name: string): Promise<Hex> {
  const [receipt] = await chain.send(issuer, [{ data: await creationCode(name), gasLimit: CREATION_GAS }]);
  const token = receipt?.contractAddress?.toLowerCase() as Hex;
  const abi = parseAbi(["function mint(address to, uint256 units)"]);
  const mint = (to: Hex) => ({
    to: token,
    data: encodeFunctionData({ abi, functionName: "mint", args: [to, INITIAL_UNITS] }),
  });
  await chain.send(issuer, [mint(payer.address), mint(stranger.address)]);
  return token;
}

type Compiled = { contracts?: Record<string, Record<string, { evm: { bytecode: { object: string } } }>> };

let compiled: Promise<Compiled> | undefined;

async function creationCode(name: string): Promise<Hex> {
  compiled ??= compile();
  const object = (await compiled).contracts?.["OddTokens.sol"]?.[name]?.evm.bytecode.object;
  if (object === undefined) throw new Error(`${name} did not compile`);
  return `0x${object}`;
}

async function compile(): Promise<Compiled> {
  const content = await readFile(new URL("OddTokens.sol", import.meta.url), "utf8");
  const solc = createRequire(import.meta.url)("solc") as { compile(input: string): string };
  const settings = { evmVersion: "cancun", outputSelection: { "*": { "*": ["evm.bytecode.object"] } } };
  const input = { language: "Solidity", sources: { "OddTokens.sol": { content } }, settings };
  return JSON.parse(solc.compile(JSON.stringify(input))) as Compiled;
}
