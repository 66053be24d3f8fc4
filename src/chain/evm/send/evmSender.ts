import { hubAddress } from "@tributary/inbox/hub";
import type { ChainConfig } from "../../../config/config.ts";
import type { Tx } from "../../../db/database.ts";
import { ChainMismatch } from "../../providers.ts";
import { ProviderFailed } from "../../reader.ts";
import {
  SettleRefused,
  type ChainSender,
  type PreparedSettlement,
  type SenderWorld,
  type SettleItem,
} from "../../sender.ts";
import { CallReverted, type EvmNode } from "../node.ts";
import { deleteOutgoingBytes } from "./outgoingStore.ts";
import { processOutgoingTransactions } from "./processOutgoingTransactions.ts";
import type { SenderContext } from "./senderContext.ts";
import { decodeFailures, settleCall, settleManyCall } from "./settleCall.ts";
import { quoteCall, signAndStore } from "./signAndStore.ts";

/** Settles inboxes through their hub; the gas account signs and pays. */
export class EvmSender implements ChainSender {
  readonly #context: SenderContext;

  constructor(context: SenderContext) {
    this.#context = context;
  }

  get payer(): string {
    return this.#context.gasAccount.address;
  }

  /** One hub and one token, so that a transaction costs what the fee plan expects. */
  batchKey({ hub, token }: SettleItem): string {
    return `${hub}/${token}`;
  }

  refusals(items: readonly SettleItem[]): Promise<(string | undefined)[]> {
    return mapReverted(() => simulateWithSecondProvider(this.#context, items));
  }

  async prepare(world: SenderWorld, items: readonly SettleItem[]): Promise<PreparedSettlement> {
    const context = this.#context;
    const call = settleCall(items);
    const quote = await mapReverted(() => quoteCall(world, context, call));
    return { store: (tx, at) => signAndStore(tx, context, { call, quote, at }) };
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

  async verify(config: ChainConfig): Promise<void> {
    if (await this.#context.providers.hasCode(hubAddress)) return;
    throw new ChainMismatch(
      `${config.name} has no hub at ${hubAddress}, which settlements need: deploy it with "tributary hub deploy".`,
    );
  }
}

/**
 * One provider's refusal must not delay money, because a failed attempt costs only gas. A second provider simulates too, where there is
 * one, and both must refuse.
 */
async function simulateWithSecondProvider(
  { providers }: SenderContext,
  items: readonly SettleItem[],
): Promise<(string | undefined)[]> {
  const hasSingleProvider = providers.providerCount < 2;
  let first: (string | undefined)[] | undefined;
  try {
    first = await simulate(providers, items);
  } catch (error) {
    const isAnswer = error instanceof CallReverted || error instanceof ProviderFailed;
    if (!isAnswer || hasSingleProvider) throw error;
  }
  if (first && (hasSingleProvider || first.every((reason) => reason === undefined))) return first;
  const second = await providers.askInReverseOrder((node) => simulate(node, items));
  return first === undefined
    ? second
    : first.map((reason, index) => (second[index] === undefined ? undefined : reason));
}

async function simulate(node: EvmNode, items: readonly SettleItem[]): Promise<(string | undefined)[]> {
  if (!(await node.hasCode(items[0]?.hub ?? ""))) return items.map(() => "hub_missing");
  const result = await node.call(settleManyCall(items));
  return decodeFailures(result).map((name) => (name === undefined ? undefined : `settle_refused ${name}`));
}

async function mapReverted<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof CallReverted)) throw error;
    throw new SettleRefused(error.message, { cause: error });
  }
}
