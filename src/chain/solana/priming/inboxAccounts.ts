import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { lamportsRentEnd } from "@tributary/inbox/solana/lamportBounds";
import {
  SettleRefused,
  type AccountSender,
  type InboxAccount,
  type PreparedTransaction,
  type SenderWorld,
  type SettleItem,
} from "../../sender.ts";
import { closeHopInstruction } from "../bridge/solanaBridge.ts";
import { readTokenAccount } from "../mintExtensions.ts";
import type { SolanaNode } from "../node.ts";
import { prepareTransaction } from "../prepareTransaction.ts";
import type { SolanaSenderContext } from "../send/senderContext.ts";
import { fetchAccounts, type AccountState } from "../send/sendRequests.ts";
import { createInstruction, settleInstructions, toInbox } from "../send/settleTransaction.ts";
import { lookAgainIfRefused, simulateInstructions } from "../send/simulateSettlement.ts";
import { fetchAccountRent } from "./accountRent.ts";
import { OPENINGS_MAX, returnsRent } from "./permittedOpening.ts";

/** Inboxes in one request: two accounts each, of the hundred that providers take. */
const INSPECTED_MAX = 50;
const AMOUNT = 64;

/** Creates and closes the token accounts of inboxes on a cluster. The fee payer pays their rent, and gets it back. */
export class InboxAccounts implements AccountSender {
  readonly batchMax = OPENINGS_MAX;
  readonly #context: SolanaSenderContext;

  constructor(context: SolanaSenderContext) {
    this.#context = context;
  }

  rent(): Promise<bigint> {
    return fetchAccountRent(this.#context);
  }

  returnsRent(item: SettleItem, at: Date): boolean {
    const { feePayer, program, ...rules } = this.#context;
    return (
      item.hub === program &&
      "kind" in item.terms &&
      returnsRent(item.terms, { ...rules, feePayer: feePayer.address, at }) &&
      rules.tokenPrograms.get(item.token) === item.tokenProgram
    );
  }

  async inspect(items: readonly SettleItem[]): Promise<InboxAccount[]> {
    const found: InboxAccount[] = [];
    for (let start = 0; start < items.length; start += INSPECTED_MAX)
      found.push(...(await this.#inspectPage(items.slice(start, start + INSPECTED_MAX))));
    return found;
  }

  /**
   * One provider that lags must not end the search for lamports, so a second one must miss the account too, where there
   * is one.
   */
  async #inspectPage(items: readonly SettleItem[]): Promise<InboxAccount[]> {
    const { providers, program } = this.#context;
    const inboxes = items.map((item) => requireInbox(item, program));
    const first = await providers.run((node) => inspectInboxes(node, inboxes));
    if (providers.providerCount < 2 || first.every(({ units }) => units !== undefined)) return first;
    const second = await providers.runLastFirst((node) => inspectInboxes(node, inboxes));
    return first.map((each, index) => (each.units === undefined ? (second[index] ?? each) : each));
  }

  async prepareOpen(world: SenderWorld, items: readonly SettleItem[]): Promise<PreparedTransaction | undefined> {
    const { program, feePayer, feeRecipient, tokenPrograms, feeCeiling } = this.#context;
    const inboxes = this.#requireInboxes(items);
    const instructions = inboxes.map(({ address: owner, tokenAccount: account, terms: { mint }, tokenProgram }) =>
      createInstruction(feePayer.address, { owner, account, mint, tokenProgram }),
    );
    const rules = {
      program,
      feeRecipient,
      tokenPrograms,
      computeUnitPriceMax: feeCeiling.computeUnitPriceMax,
      terms: inboxes.map(({ terms }) => terms),
    };
    return prepareTransaction(world, this.#context, {
      outlook: () => this.#outlook(instructions),
      sign: (message, at) => feePayer.signOpening(message, { ...rules, at }),
      isOptional: true,
    });
  }

  /** The message is that of a settlement, so the same rules permit it. */
  async prepareClose(world: SenderWorld, items: readonly SettleItem[]): Promise<PreparedTransaction | undefined> {
    const { program, feePayer, feeRecipient, feeCeiling } = this.#context;
    const [first, ...others] = this.#requireInboxes(items);
    if (first === undefined) throw new Error("a batch needs an item");
    const rules = { program, feeRecipient, computeUnitPriceMax: feeCeiling.computeUnitPriceMax };
    const { terms } = first;
    if (terms.kind === "hop") {
      const closing = [closeHopInstruction({ ...first, terms })];
      return prepareTransaction(world, this.#context, {
        outlook: () => this.#outlook(closing),
        sign: (message) => feePayer.signClose(message, rules),
      });
    }
    const instructions = settleInstructions([first, ...others], { payer: feePayer.address, missing: [] });
    return prepareTransaction(world, this.#context, {
      outlook: () => this.#outlook(instructions),
      sign: (message) => feePayer.sign(message, rules),
    });
  }

  /** Throws SettleRefused for a mint that settles nothing now, as a settlement does. */
  #requireInboxes(items: readonly SettleItem[]): SolanaInbox[] {
    const { program, heldMints } = this.#context;
    for (const { token } of items) {
      const reason = heldMints.get(token);
      if (reason !== undefined) throw new SettleRefused(`the mint ${reason}`);
    }
    return items.map((item) => requireInbox(item, program));
  }

  #outlook(instructions: readonly SolanaInstruction[]) {
    return lookAgainIfRefused(this.#context, (node) => simulateInstructions(this.#context, node, instructions));
  }
}

/** Throws SettleRefused for an item that is not the inbox of its terms. */
function requireInbox(item: SettleItem, program: string): SolanaInbox {
  const inbox = toInbox(item, program);
  if ("refusal" in inbox) throw new SettleRefused(inbox.refusal);
  if (inbox.terms.mint !== item.token) throw new SettleRefused("the inbox takes another token");
  return inbox;
}

async function inspectInboxes(node: SolanaNode, inboxes: readonly SolanaInbox[]): Promise<InboxAccount[]> {
  const payouts = inboxes.map(({ terms, tokenAccount, tokenProgram }) =>
    terms.kind === "pay" ? deriveTokenAccount(terms.payout, terms.mint, tokenProgram).address : tokenAccount,
  );
  const addresses = [...inboxes.map(({ tokenAccount }) => tokenAccount), ...payouts];
  const accounts = await fetchAccounts(node, addresses, "finalized");
  return inboxes.map((inbox, index) => {
    const account = accounts[index];
    return {
      units: unitsOf(inbox, account),
      obstacle: findObstacle(inbox, { account, payout: accounts[inboxes.length + index] }),
    };
  });
}

/** Somebody may have sent lamports to the address without creating a token account there. */
function unitsOf({ tokenProgram }: SolanaInbox, account: AccountState | undefined): bigint | undefined {
  return account?.owner === tokenProgram ? account.data.readBigUInt64LE(AMOUNT) : undefined;
}

function findObstacle(
  { terms, tokenProgram }: SolanaInbox,
  { account, payout }: Record<"account" | "payout", AccountState | undefined>,
): string | undefined {
  if (account !== undefined && account.lamports >= lamportsRentEnd) return "excess_lamports";
  // Only a burn empties it, and a burn costs more than dust is worth.
  if (terms.kind === "hop") {
    const units = account?.owner === tokenProgram ? account.data.readBigUInt64LE(AMOUNT) : 0n;
    return units === 0n ? undefined : "holds_dust";
  }
  const token = payout?.owner === tokenProgram ? readTokenAccount(payout.data) : undefined;
  const isPayable = token?.owner === terms.payout && token.mint === terms.mint && token.state === "initialized";
  return isPayable ? undefined : "no_payout_account";
}
