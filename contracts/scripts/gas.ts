import { readFile, writeFile } from "node:fs/promises";
import { concat, encodeFunctionData, keccak256, numberToHex, stringToHex } from "viem";
import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { computeInboxAddress } from "../../packages/inbox/src/address.ts";
import { hubAddress, hubSalt } from "../../packages/inbox/src/hub.generated.ts";
import { settleItemGas } from "../../packages/inbox/src/hubs.ts";
import { hubAbi } from "../../packages/inbox/src/hubAbi.generated.ts";
import { hubCreationCode } from "../../packages/inbox/src/hubCode.generated.ts";
import type { Terms } from "../../packages/inbox/src/terms.ts";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import type { DevAccount } from "../../src/dev/devAccounts.ts";
import { transferCall } from "../../src/dev/chains/tokens.ts";
import { startTestChain } from "../../test/support/chain.ts";
import type { TestChain } from "../../test/support/chain.ts";
import { measureBridge } from "./gasBridge.ts";
import { forwarderCode } from "./gasFloor.ts";

// Measures the gas of real transactions with Circle's own token. Each chain starts in the same state, so the figures
// are reproducible. They are checked in as contracts/gas.json, which `node contracts/scripts/gas.ts` updates.

const depositUnits = 100_000_000n;
const batchSize = 100;
const awayChainId = 900_002;
const itemGas = settleItemGas;
/** EIP-3529: the refund for an emptied balance, and the most that is refunded, as a part of the gas used. */
const emptiedRefund = 4_800;
const refundDivisor = 5;
const payout: Hex = "0x9a7cc3f9f2ad4ae3e7ba53f51a2a6bd5f41f8c01";
const feeRecipient: Hex = "0x9a7cc3f9f2ad4ae3e7ba53f51a2a6bd5f41f8c02";
const snapshotPath = new URL("../gas.json", import.meta.url);

/** Gas of one transaction. Figures of a batch are divided by its hundred inboxes and rounded down. */
export type GasFigures = Readonly<Record<(typeof names)[number], number>>;

const names = [
  /**
   * 21,000 and two token transfers to accounts with a balance, the second of which empties the sender. A settlement
   * empties the inbox, for which the chain refunds 4,800 gas, so the floor must too.
   */
  "floor",
  "settleFirst",
  "settleRepeat",
  /** An inbox with its own private key: a gas top-up and two transfers. */
  "walletFirst",
  "walletRepeat",
  /** One transaction with two hundred transfers, less what the chain refunds for a hundred emptied balances. */
  "batchFloor",
  "manyFirst",
  "manyRepeat",
  "manyEmpty",
  "nettedFirst",
  "nettedRepeat",
  "nettedEmpty",
  /** A batch of a hundred, one of them with a payout that the issuer blocked. */
  "manyOneBlocked",
  /**
   * Giving the balance of an inbox to the bridge, and receiving it on the settle chain in the transaction that settles.
   */
  "burnFirst",
  "burnRepeat",
  "receiveStandardFirst",
  "receiveStandardRepeat",
  "receiveFastFirst",
  "receiveFastRepeat",
  /** The bridge's receipt alone, to an inbox that exists. */
  "relayStandard",
  "relayFast",
] as const;

/** Measures each figure on new chains. */
export async function measureGas(): Promise<GasFigures> {
  const hub = { creationCode: hubCreationCode, salt: hubSalt };
  const [chain, away] = await Promise.all([startTestChain({ hub }), startTestChain({ hub, chainId: awayChainId })]);
  try {
    await payInbox(chain, payout);
    await payInbox(chain, feeRecipient);
    const [terms] = createTerms(chain, "bridged", 1);
    if (!terms) throw new Error("createTerms returned no terms");
    return {
      ...(await measureSingle(chain)),
      ...(await measureWallet(chain)),
      ...(await measureBatches(chain)),
      ...(await measureBridge(chain, away, { terms, depositUnits })),
    };
  } finally {
    await Promise.all([chain.stop(), away.stop()]);
  }
}

export async function readGasSnapshot(): Promise<GasFigures> {
  return JSON.parse(await readFile(snapshotPath, "utf8")) as GasFigures;
}

async function measureSingle(chain: TestChain) {
  const [terms] = createTerms(chain, "one", 1);
  if (!terms) throw new Error("createTerms returned no terms");
  const data = encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [terms] });
  // The first transfer as an ordinary transaction, and the additional cost of a second one in the same transaction.
  const both = await sendThroughForwarder(chain, [payout, feeRecipient]);
  const floor = (await payInbox(chain, payout)) + both - (await sendThroughForwarder(chain, [payout])) - emptiedRefund;
  await payInbox(chain, computeInboxAddress(terms));
  const settleFirst = await callHub(chain, data);
  await payInbox(chain, computeInboxAddress(terms));
  return { floor, settleFirst, settleRepeat: await callHub(chain, data) };
}

/** Measures the usual design with a private key per deposit: send gas to the inbox, then let it pay twice. */
async function measureWallet(chain: TestChain) {
  const privateKey = keccak256(stringToHex("an inbox with a key"));
  const inbox: DevAccount = { privateKey, address: privateKeyToAccount(privateKey).address };
  const sweep = async () => {
    await payInbox(chain, inbox.address);
    const half = depositUnits / 2n;
    const [topUp] = await chain.send(DEV_ACCOUNTS.payer, [{ to: inbox.address, value: 10n ** 17n }]);
    const calls = [payout, feeRecipient].map((to) => transferCall(chain.usdc.address, to, half));
    const transfers = await chain.send(inbox, calls);
    return [topUp, ...transfers].reduce((sum, receipt) => sum + gasOf(receipt), 0);
  };
  return { walletFirst: await sweep(), walletRepeat: await sweep() };
}

async function measureBatches(chain: TestChain) {
  const many = createTerms(chain, "many", batchSize);
  const netted = createTerms(chain, "netted", batchSize);
  const [shared] = netted;
  if (!shared) throw new Error("createTerms returned no terms");
  const salts = netted.map(({ salt }) => salt);
  const manyData = encodeFunctionData({ abi: hubAbi, functionName: "settleMany", args: [many, itemGas] });
  const nettedData = encodeFunctionData({ abi: hubAbi, functionName: "settleNetted", args: [shared, salts, itemGas] });
  const each = async (items: readonly Terms[], data: Hex) => {
    for (const terms of items) await payInbox(chain, computeInboxAddress(terms));
    return Math.floor((await callHub(chain, data)) / batchSize);
  };
  const everybody = Array.from({ length: batchSize }, () => [payout, feeRecipient]).flat();
  const figures = {
    batchFloor: Math.floor(refundEmptied(await sendThroughForwarder(chain, everybody), batchSize) / batchSize),
    manyEmpty: await each([], manyData),
    nettedEmpty: await each([], nettedData),
    manyFirst: await each(many, manyData),
    manyRepeat: await each(many, manyData),
    nettedFirst: await each(netted, nettedData),
    nettedRepeat: await each(netted, nettedData),
  };
  return { ...figures, manyOneBlocked: await measureOneBlocked(chain) };
}

/** Gas per inbox of a batch of a hundred with one blocked payout wallet. Throws unless the other 99 are paid. */
async function measureOneBlocked(chain: TestChain): Promise<number> {
  const { address: token } = chain.usdc;
  const blocked: Hex = "0x9a7cc3f9f2ad4ae3e7ba53f51a2a6bd5f41f8c03";
  const items = createTerms(chain, "blocked", batchSize).map((terms, index) =>
    index === 42 ? { ...terms, payout: blocked } : terms,
  );
  for (const terms of items) await payInbox(chain, computeInboxAddress(terms));
  await chain.blocklist(token, blocked);
  const before = await chain.balanceOf(token, payout);
  const gas = await callHub(
    chain,
    encodeFunctionData({ abi: hubAbi, functionName: "settleMany", args: [items, itemGas] }),
  );
  const paid = (await chain.balanceOf(token, payout)) - before;
  if (paid !== ((depositUnits * 9_950n) / 10_000n) * 99n) throw new Error(`99 payouts transferred ${paid} units`);
  return Math.floor(gas / batchSize);
}

function createTerms(chain: TestChain, name: string, count: number): Terms[] {
  return Array.from({ length: count }, (_, index) => ({
    salt: keccak256(stringToHex(`${name} ${index}`)),
    settleChainId: BigInt(chain.chainId),
    settleToken: chain.usdc.address,
    payout,
    feeRecipient,
    feeBps: 50,
    recovery: payout,
    recoverAfter: 1_800_000_000,
    routesRoot: numberToHex(0, { size: 32 }),
  }));
}

/** Gas of one transfer of the usual deposit. */
async function payInbox(chain: TestChain, to: Hex): Promise<number> {
  return gasOf(await chain.pay(chain.usdc.address, to, { amountUnits: depositUnits }));
}

/** Gas of one transaction in which a contract forwards a transfer to each receiver and keeps a remainder. */
async function sendThroughForwarder(chain: TestChain, receivers: readonly Hex[]): Promise<number> {
  const { address: token } = chain.usdc;
  const [created] = await chain.send(DEV_ACCOUNTS.payer, [{ data: forwarderCode(token) }]);
  const to = created?.contractAddress;
  if (!to) throw new Error("the forwarder was not deployed");
  await chain.mint(token, to, depositUnits * BigInt(receivers.length + 1));
  const data = concat(receivers.map((receiver) => transferCall(token, receiver, depositUnits).data ?? "0x"));
  const [receipt] = await chain.send(DEV_ACCOUNTS.payer, [{ to, data, gasLimit: 16_000_000n }]);
  if ((await chain.balanceOf(token, to)) !== depositUnits) throw new Error("the forwarder did not pay every receiver");
  return gasOf(receipt);
}

/** What a transaction costs that empties `count` balances too. */
function refundEmptied(gasUsed: number, count: number): number {
  return gasUsed - Math.min(count * emptiedRefund, Math.floor(gasUsed / refundDivisor));
}

async function callHub(chain: TestChain, data: Hex): Promise<number> {
  const [receipt] = await chain.send(DEV_ACCOUNTS.payer, [{ to: hubAddress, data, gasLimit: 16_000_000n }]);
  return gasOf(receipt);
}

function gasOf(receipt: { status: string; gasUsed: bigint } | undefined): number {
  if (receipt?.status !== "success") throw new Error("a transaction reverted");
  return Number(receipt.gasUsed);
}

if (import.meta.main) {
  const figures = await measureGas();
  const ordered = Object.fromEntries(names.map((name) => [name, figures[name]]));
  await writeFile(snapshotPath, `${JSON.stringify(ordered, undefined, 2)}\n`);
}
