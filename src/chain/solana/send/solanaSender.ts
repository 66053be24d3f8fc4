import type { ChainConfig } from "../../../config/config.ts";
import type { Tx } from "../../../db/database.ts";
import { deleteOutgoingBytes } from "../../outgoing/outgoingStore.ts";
import type { BridgeSender, ChainSender, PreparedSettlement, SenderWorld, SettleItem } from "../../sender.ts";
import type { TokenProblem } from "../../tokenProblems.ts";
import { openSolanaBridge } from "../bridge/solanaBridge.ts";
import { checkMints } from "../checkMints.ts";
import { prepareTransaction } from "../prepareTransaction.ts";
import { fetchEventRent } from "../priming/accountRent.ts";
import { InboxAccounts } from "../priming/inboxAccounts.ts";
import { fetchQuote, requestPrice } from "./priorityFees.ts";
import { processTransactions } from "./processTransactions.ts";
import type { SolanaSenderContext } from "./senderContext.ts";
import { fetchLamports } from "./sendRequests.ts";
import { batchKey } from "./settleTransaction.ts";
import { findOutlook, findRefusals } from "./simulateSettlement.ts";
import { verifySettling } from "./verifySettling.ts";

/** Of one signature, whatever the price. */
const SIGNATURE_LAMPORTS = 5_000n;
/** The limit of one settlement that creates the payout account. */
const SETTLEMENT_UNITS = 60_000n;
const MICRO_LAMPORTS = 1_000_000n;

/**
 * Settles inboxes of a cluster through the inbox program. The fee payer signs, and gets back the rent of what is
 * closed.
 */
export class SolanaSender implements ChainSender {
  readonly accounts: InboxAccounts;
  readonly #context: SolanaSenderContext;

  constructor(context: SolanaSenderContext) {
    this.#context = context;
    this.accounts = new InboxAccounts(context);
  }

  get bridge(): BridgeSender | undefined {
    return this.#context.hasBridge ? openSolanaBridge(this.#context) : undefined;
  }

  get payer(): string {
    return this.#context.feePayer.address;
  }

  batchKeys(items: readonly SettleItem[]): string[] {
    return items.map(batchKey);
  }

  async isWithinFeeCeiling(world: SenderWorld): Promise<boolean> {
    // Above the ceiling settlements offer the ceiling. The request raises the alarm.
    await requestPrice(world, this.#context);
    return true;
  }

  refusals(items: readonly SettleItem[]): Promise<(string | undefined)[]> {
    return findRefusals(this.#context, items);
  }

  async prepare(world: SenderWorld, items: readonly SettleItem[]): Promise<PreparedSettlement | undefined> {
    const { feePayer, program, feeRecipient, feeCeiling } = this.#context;
    const rules = { program, feeRecipient, computeUnitPriceMax: feeCeiling.computeUnitPriceMax };
    return prepareTransaction(world, this.#context, {
      outlook: () => findOutlook(this.#context, items),
      sign: (message) => feePayer.sign(message, rules),
    });
  }

  process(world: SenderWorld): Promise<void> {
    return processTransactions(world, this.#context);
  }

  deleteBytes(tx: Tx, closed: { ids: readonly bigint[]; at: Date }): Promise<void> {
    return deleteOutgoingBytes(tx, closed);
  }

  feeBalance(): Promise<bigint> {
    return this.#context.providers.run((node) => fetchLamports(node, this.payer));
  }

  async settlementFee(): Promise<bigint> {
    const { hasBridge } = this.#context;
    // A burn locks the rent of its message, a settlement at most that of the payout account.
    const [quote, rent] = await Promise.all([
      fetchQuote(this.#context),
      hasBridge ? fetchEventRent(this.#context) : this.accounts.rent(),
    ]);
    const { computeUnitPriceMax } = this.#context.feeCeiling;
    const price = quote < computeUnitPriceMax ? quote : computeUnitPriceMax;
    return SIGNATURE_LAMPORTS + rent + (price * SETTLEMENT_UNITS) / MICRO_LAMPORTS + 1n;
  }

  async feeStatus(): Promise<{ isWithinCeiling: boolean; text: string }> {
    const { computeUnitPriceMax } = this.#context.feeCeiling;
    const quote = await fetchQuote(this.#context);
    return {
      isWithinCeiling: quote <= computeUnitPriceMax,
      text: `${quote} micro-lamports a compute unit, computeUnitPriceMax is ${computeUnitPriceMax}`,
    };
  }

  checkTokens(config: ChainConfig): Promise<readonly TokenProblem[]> {
    return checkMints(this.#context, config);
  }

  verify(config: ChainConfig): Promise<void> {
    return verifySettling(this.#context, config);
  }
}
