import { initialGasLimit, TRANSACTION_GAS_MAX } from "@tributary/inbox/gasLimit";
import { hubAddress } from "@tributary/inbox/hub";
import { encodeFunctionData, erc20Abi, type Hex } from "viem";
import type { ChainConfig } from "../../../config/config.ts";
import type { Tx } from "../../../db/database.ts";
import type { EvmProviders } from "../evmProviders.ts";
import { ChainMismatch } from "../../providers.ts";
import { ProviderFailed } from "../../reader.ts";
import {
  SettleRefused,
  type BridgeSender,
  type ChainSender,
  type PreparedSettlement,
  type SenderWorld,
  type SettleItem,
} from "../../sender.ts";
import { CallReverted, type FeeLimits } from "../node.ts";
import { openEvmBridge } from "../bridge/evmBridge.ts";
import { settlementDataFee } from "./dataFee.ts";
import { formatPrice, limitFees, presentFee, priceOf, requestFees } from "./fees.ts";
import { deleteOutgoingBytes } from "../../outgoing/outgoingStore.ts";
import { processOutgoingTransactions } from "./processOutgoingTransactions.ts";
import { mapReverted, prepareCall, type SettlePlan } from "./prepareCall.ts";
import type { SenderContext } from "./senderContext.ts";
import {
  decodeFailures,
  evmTerms,
  settleCall,
  settleNettedCall,
  settleNothingCall,
  sharedTermsKey,
} from "./settleCall.ts";
import { estimateSettlementGas } from "./settlementGas.ts";
import { findFailures, findGasLimit } from "./simulateSettlement.ts";

/** From this many items on, one payout and one fee for all cost clearly less gas than one of each for every item. */
const NETTED_MIN = 4;
/** From this many items on, that is cheaper even with a transaction of its own. */
const OWN_BATCH_MIN = 9;
/** TSTORE of 0 at slot 0, then the end: valid since the hard fork Cancun. */
const TSTORE_CODE = "0x5f5f5d00";
/** The gas of a first settlement where the node does not simulate its parts, by the rules of Osaka. */
const SETTLEMENT_GAS = 110_000n;
/** The gas limit of the hub's fee transfer, a constant of the hub. */
const FEE_TRANSFER_GAS = 200_000n;

/** Settles inboxes through their hub; the gas account signs and pays. */
export class EvmSender implements ChainSender {
  readonly #context: SenderContext;

  constructor(context: SenderContext) {
    this.#context = context;
  }

  /** Burning needs no contract here; receiving needs the chain's transmitter. */
  get bridge(): BridgeSender | undefined {
    const { transmitter } = this.#context;
    return transmitter && openEvmBridge(this.#context, transmitter);
  }

  get payer(): string {
    return this.#context.gasAccount.address;
  }

  /**
   * A batch has one hub and one token. Items that one netted settlement can settle get an own batch where that is
   * cheaper.
   */
  batchKeys(items: readonly SettleItem[]): string[] {
    const keyed = items.map((item) => ({ key: `${item.hub}/${item.token}`, sharedKey: sharedTermsKey(item) }));
    const sharing = Map.groupBy(keyed, ({ sharedKey }) => sharedKey);
    return keyed.map(({ key, sharedKey }) =>
      (sharing.get(sharedKey)?.length ?? 0) >= OWN_BATCH_MIN ? `${key}/${sharedKey}` : key,
    );
  }

  async isWithinFeeCeiling(world: SenderWorld): Promise<boolean> {
    return (await requestFees(world, this.#context)) !== undefined;
  }

  refusals(items: readonly SettleItem[]): Promise<(string | undefined)[]> {
    return mapReverted(() => findFailures(this.#context.providers, items));
  }

  async prepare(world: SenderWorld, items: readonly SettleItem[]): Promise<PreparedSettlement | undefined> {
    return prepareCall(world, this.#context, () => chooseCall(this.#context, items));
  }

  process(world: SenderWorld): Promise<void> {
    return processOutgoingTransactions(world, this.#context);
  }

  deleteBytes(tx: Tx, closed: { ids: readonly bigint[]; at: Date }): Promise<void> {
    return deleteOutgoingBytes(tx, closed);
  }

  feeBalance(): Promise<bigint> {
    return this.#context.providers.nativeBalance(this.payer);
  }

  async settlementFee(): Promise<bigint> {
    const { gasLimit, fees, dataFee } = await this.#settlementPrice();
    return gasLimit * fees.maxFeePerGas + dataFee;
  }

  async settlementCost(): Promise<bigint> {
    const { gasLimit, fees, dataFee } = await this.#settlementPrice();
    return presentFee(gasLimit, fees) + dataFee;
  }

  /** Of one first settlement, by the chain's present rules and prices. */
  async #settlementPrice(): Promise<{ gasLimit: bigint; fees: FeeLimits; dataFee: bigint }> {
    const { providers, feeCeiling } = this.#context;
    const [quote, gas] = await Promise.all([providers.fees(), settlementGas(providers)]);
    const fees = limitFees(quote, feeCeiling.maxFeePerGas);
    const gasLimit = initialGasLimit(gas, TRANSACTION_GAS_MAX);
    return { gasLimit, fees, dataFee: await settlementDataFee(providers, { gasLimit, ...fees }) };
  }

  async feeStatus(): Promise<{ isWithinCeiling: boolean; text: string }> {
    const quote = await this.#context.providers.fees();
    const { maxFeePerGas } = this.#context.feeCeiling;
    const { priceGwei, maxFeePerGasGwei } = formatPrice(quote, maxFeePerGas);
    return {
      isWithinCeiling: priceOf(quote) <= maxFeePerGas,
      text: `${priceGwei} gwei, maxFeePerGasGwei is ${maxFeePerGasGwei}`,
    };
  }

  async verify({ name }: ChainConfig): Promise<void> {
    const { providers } = this.#context;
    const hasHub = await providers.hasCode(hubAddress);
    if (hasHub && (await canSettle(providers))) return;
    throw new ChainMismatch(`${name} ${await explainHub(providers, hasHub)}`);
  }
}

/** Nodes that do not execute code without an address are counted by the rules of today. */
async function settlementGas(providers: EvmProviders): Promise<bigint> {
  try {
    return await estimateSettlementGas(providers);
  } catch (error) {
    if (error instanceof CallReverted || isUnreadable(error)) return SETTLEMENT_GAS;
    throw error;
  }
}

/** Whether the hub executes an empty batch, which uses the lock and so the chain's transient storage. */
async function canSettle(providers: EvmProviders): Promise<boolean> {
  try {
    decodeFailures(await providers.call(settleNothingCall(hubAddress)));
    return true;
  } catch (error) {
    if (error instanceof CallReverted || isUnreadable(error)) return false;
    throw error;
  }
}

async function explainHub(providers: EvmProviders, hasHub: boolean): Promise<string> {
  if (!(await hasTransientStorage(providers)))
    return "lacks transient storage (EIP-1153), without which its hub cannot settle: the chain needs the hard fork Cancun. Remove it from the configuration.";
  return hasHub
    ? `has code at ${hubAddress} that does not settle as the hub does: see "tributary hub status".`
    : `has no hub at ${hubAddress}, which settlements need: deploy it with "tributary hub deploy".`;
}

/** Executes TSTORE as the creation code of a contract. True also where the node refuses such calls. */
async function hasTransientStorage(providers: EvmProviders): Promise<boolean> {
  try {
    await providers.call({ data: TSTORE_CODE });
    return true;
  } catch (error) {
    if (error instanceof CallReverted) return false;
    if (isUnreadable(error)) return true;
    throw error;
  }
}

function isUnreadable(error: unknown): boolean {
  return error instanceof ProviderFailed && error.kind === "bad_answer";
}

async function chooseCall(context: SenderContext, items: readonly SettleItem[]): Promise<SettlePlan> {
  const netted = isNettable(items) ? await findNettedCall(context, items) : undefined;
  if (netted) return netted;
  const call = settleCall(items);
  return { call, gasLimit: await findGasLimit(context, call) };
}

function isNettable(items: readonly SettleItem[]): boolean {
  return items.length >= NETTED_MIN && new Set(items.map(sharedTermsKey)).size === 1;
}

/**
 * Undefined when the items must be settled one by one: the token refuses the hub or the fee wallet, or deducts from a
 * transfer.
 */
async function findNettedCall(context: SenderContext, items: readonly SettleItem[]): Promise<SettlePlan | undefined> {
  const [first, ...others] = items;
  if (first === undefined || !(await acceptsFee(context, first))) return undefined;
  const call = settleNettedCall([first, ...others]);
  try {
    return { call, gasLimit: await findGasLimit(context, call) };
  } catch (error) {
    if (error instanceof CallReverted || error instanceof SettleRefused) return undefined;
    throw error;
  }
}

/** Whether the fee wallet accepts a transfer. */
async function acceptsFee({ providers }: SenderContext, item: SettleItem): Promise<boolean> {
  const { inbox, token } = item;
  const terms = evmTerms(item);
  if (terms.feeBps === 0) return true;
  const args = [terms.feeRecipient, 1n] as const;
  const data: Hex = encodeFunctionData({ abi: erc20Abi, functionName: "transfer", args });
  try {
    const result = await providers.call({ from: inbox, to: token, data, gas: FEE_TRANSFER_GAS });
    return result === "0x" || BigInt(result) === 1n;
  } catch (error) {
    if (error instanceof CallReverted) return false;
    throw error;
  }
}
