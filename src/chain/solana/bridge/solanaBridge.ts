import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import { buildBridge, readonlyMeta, type SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { encodeKey } from "@tributary/inbox/solana/keys";
import type { SolanaHopTerms } from "@tributary/inbox/solana/terms";
import { hexToBytes } from "viem";
import type { BridgeSender, BurnItem, PreparedSettlement, BurnWorld, SettleItem } from "../../sender.ts";
import { prepareTransaction } from "../prepareTransaction.ts";
import { openEventKey } from "../send/feePayer.ts";
import { COMPUTE_UNITS_MAX } from "../send/permittedMessage.ts";
import type { SolanaSenderContext } from "../send/senderContext.ts";
import { toInbox } from "../send/settleTransaction.ts";
import { lookAgainIfRefused, simulateInstructions, type Outlook } from "../send/simulateSettlement.ts";
import { findMintOutlook, prepareMint } from "./receiveMint.ts";
import { prepareReclaim } from "./reclaimEvent.ts";

// Burns inboxes by the inbox program, and receives what other chains' inboxes burned for one here.

export type HopInbox = SolanaInbox & { readonly terms: SolanaHopTerms };

/** About a third of the time until a block is final. */
const LOOK_MS = 4_000;
/** Places in the accounts of a burn: who pays for the message's account, and that account. */
const [EVENT_PAYER, EVENT] = [8, 16];

export function openSolanaBridge(context: SolanaSenderContext): BridgeSender {
  return {
    burnRefusal: async (item) => {
      const outlook = await findBurnOutlook(context, item);
      return "refusal" in outlook ? `bridge_refused ${outlook.refusal}` : undefined;
    },
    prepareBurn: (world, item) => prepareBurn(world, context, item),
    mintOutlook: (item) => findMintOutlook(context, item),
    prepareMint: (world, item) => prepareMint(world, context, item),
    prepareReclaim: (world, burn) => prepareReclaim(world, context, burn),
    workMax: BigInt(COMPUTE_UNITS_MAX),
    lookMs: LOOK_MS,
  };
}

async function prepareBurn(
  world: BurnWorld,
  context: SolanaSenderContext,
  item: BurnItem,
): Promise<PreparedSettlement | undefined> {
  const { feePayer, program, feeRecipient, feeCeiling } = context;
  const event = openEventKey(world.entropy.bytes(32));
  const rules = { program, feeRecipient, computeUnitPriceMax: feeCeiling.computeUnitPriceMax };
  return prepareTransaction(world, context, {
    outlook: () => findBurnOutlook(context, item, event.address),
    sign: (message) => feePayer.signBurn(message, rules, event),
  });
}

/**
 * What burning the inbox's balance would do. A second provider must refuse too, where there is one. `event`: absent for
 * a look that no transaction follows.
 */
async function findBurnOutlook(context: SolanaSenderContext, item: BurnItem, event?: string): Promise<Outlook> {
  const reason = context.heldMints.get(item.token);
  if (reason !== undefined) return { refusal: `the mint ${reason}` };
  const inbox = toHopInbox(item, context.program);
  if ("refusal" in inbox) return inbox;
  const { way } = item;
  if (way.kind !== "hop") return { refusal: "the way is not one of an inbox on Solana" };
  const { address: payer } = context.feePayer;
  const { mint, domain, rentRecipient } = inbox.terms;
  const cctp = deriveCctpAccounts({ mint, domain, sender: inbox.address });
  const someKey = encodeKey(hexToBytes(inbox.termsHash));
  const options = { cctp, payer, event: event ?? someKey, route: way.route, rentRecipient: rentRecipient === payer };
  return lookAgainIfRefused(context, (node) => simulateInstructions(context, node, [buildBridge(inbox, options)]));
}

/** The inbox of the item's terms, or why no transaction of ours burns it. */
function toHopInbox(item: SettleItem, program: string): HopInbox | { refusal: string } {
  const inbox = toInbox(item, program);
  if ("refusal" in inbox) return inbox;
  const { terms } = inbox;
  return terms.kind === "hop" ? { ...inbox, terms } : { refusal: "the inbox is paid out on Solana" };
}

/** Stands where a burn of nothing names the account of its message: nobody can sign for it. */
const NO_EVENT = "1nc1nerator11111111111111111111111111111111";

/** Closes the token account of an empty inbox. The rent recipient signs; no message is made. */
export function closeHopInstruction(inbox: HopInbox): SolanaInstruction {
  const { mint, domain } = inbox.terms;
  const cctp = deriveCctpAccounts({ mint, domain, sender: inbox.address });
  const made = buildBridge(inbox, { cctp, payer: NO_EVENT, event: NO_EVENT, route: 1, rentRecipient: true });
  const unsigned = (place: number) => place === EVENT_PAYER || place === EVENT;
  return { ...made, accounts: made.accounts.map((meta, place) => (unsigned(place) ? readonlyMeta(NO_EVENT) : meta)) };
}
