import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { encodeFunctionData, getContractAddress, parseAbi, type Hex } from "viem";
import { openEvmDriver } from "../../src/chain/evm/driver.ts";
import { openGasAccount } from "../../src/chain/evm/gasAccount.ts";
import { DEV_ACCOUNTS, type DevAccount } from "../../src/cli/dev/accounts.ts";
import { signCalls, type Call } from "../../src/cli/dev/client.ts";
import { transferCall } from "../../src/cli/dev/tokens.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";
import { callTogether } from "../support/watching.ts";
import type { Subject, Transfer } from "./subject.ts";
import { inboxTerms } from "./terms.ts";

const { payer, stranger, issuer, operator } = DEV_ACCOUNTS;
const PLENTY = 10n ** 15n;
const CREATION_GAS = 2_000_000n;

/** A real node with the real hub and Circle's token, which makes a block only when it is told to. */
export async function openAnvilSubject(): Promise<Subject> {
  const chain = await startTestChain();
  const { client } = chain;
  const plain = chain.usdc.address;
  await chain.mint(plain, payer.address, PLENTY);
  await chain.mint(plain, stranger.address, PLENTY);
  const [silent, taxed] = [await deployOdd(chain, "SilentToken"), await deployOdd(chain, "TaxedToken")];
  await chain.mine(5);
  await client.setAutomine(false);
  const driver = openEvmDriver({ caip2: chain.caip2, rpcUrl: chain.rpcUrl });
  const atOnce = async (work: () => Promise<unknown>) => {
    await client.setAutomine(true);
    await work();
    await client.setAutomine(false);
  };
  const offer = async (account: DevAccount, call: Call) => {
    const [serializedTransaction = "0x"] = await signCalls(client, account, [call]);
    return client.sendRawTransaction({ serializedTransaction });
  };
  const call = ({ token, to, units }: Transfer) => transferCall(token as Hex, to as Hex, units);
  return {
    driver,
    chainId: chain.chainId,
    tokens: { plain, silent, taxed },
    payers: [payer.address, stranger.address],
    gasAccount: openGasAccount(operator.privateKey),
    pay: (from, transfer) => offer(from === payer.address ? payer : stranger, call(transfer)),
    payTogether: async (transfers, ending = "keeps") => {
      const nonce = await client.getTransactionCount({ address: stranger.address, blockTag: "pending" });
      const from = getContractAddress({ from: stranger.address, nonce: BigInt(nonce) }).toLowerCase() as Hex;
      await atOnce(() => chain.mint(plain, from, PLENTY));
      return { from, chainTx: await offer(stranger, callTogether(transfers.map(call), ending)) };
    },
    mine: (blocks = 1) => client.mine({ blocks }),
    reorg: async (depth, kept = []) => {
      const signed = await Promise.all(kept.map((chainTx) => chain.signedOf(chainTx as Hex)));
      await chain.reorg(
        depth,
        signed.map((bytes) => ({ signed: bytes, blockIndex: 0 })),
      );
    },
    bar: (account) => atOnce(() => chain.blocklist(plain, account as Hex)),
    unbar: (account) => atOnce(() => chain.unblocklist(plain, account as Hex)),
    termsOf: (of) => inboxTerms(chain.chainId, of),
    close: async () => {
      await driver.close();
      await chain.stop();
    },
  };
}

/** Puts an odd token onto the chain and gives plenty of it to those who pay. */
async function deployOdd(chain: TestChain, name: string): Promise<Hex> {
  const [receipt] = await chain.send(issuer, [{ data: await creationCode(name), gasLimit: CREATION_GAS }]);
  const token = receipt?.contractAddress?.toLowerCase() as Hex;
  const abi = parseAbi(["function mint(address to, uint256 units)"]);
  const mint = (to: Hex) => ({
    to: token,
    data: encodeFunctionData({ abi, functionName: "mint", args: [to, PLENTY] }),
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
