import { cctpMessenger, cctpTransmitter } from "@tributary/inbox/solana/cctp";
import { buildReclaimEvent } from "@tributary/inbox/solana/cctpInstructions";
import { hexToBytes, type Hex } from "viem";
import { ProviderFailed } from "../../reader.ts";
import type { BurnProofOnChain, PreparedTransaction, SenderWorld } from "../../sender.ts";
import type { SolanaNode } from "../node.ts";
import { prepareTransaction } from "../prepareTransaction.ts";
import { parseTransaction, UnreadableTransaction } from "../rpc/parseTransaction.ts";
import type { SolanaSenderContext } from "../send/senderContext.ts";
import { fetchAccounts } from "../send/sendRequests.ts";
import { simulateInstructions } from "../send/simulateSettlement.ts";

// Circle's transmitter returns the rent of a burn's message to who paid it, five days after the burn.

/** Places in the accounts of a burn: who pays for the message's account, and that account. */
const [EVENT_PAYER, EVENT] = [1, 11];

/** Prices the transaction that returns the rent. `none`: the fee payer has nothing locked there. */
export async function prepareReclaim(
  world: SenderWorld,
  context: SolanaSenderContext,
  { chainTx, message, attestation }: BurnProofOnChain,
): Promise<PreparedTransaction | "none" | undefined> {
  const { feePayer, program, feeRecipient, feeCeiling } = context;
  const payer = feePayer.address;
  const event = await context.providers.run((node) => findEvent(node, chainTx, payer));
  if (event === undefined) return "none";
  const signed = { message: hexToBytes(message as Hex), attestation: hexToBytes(attestation as Hex) };
  const calls = [buildReclaimEvent(signed, { payer, event })];
  const rules = { program, feeRecipient, computeUnitPriceMax: feeCeiling.computeUnitPriceMax, signed, event };
  return prepareTransaction(world, context, {
    outlook: () => context.providers.run((node) => simulateInstructions(context, node, calls)),
    sign: (unsigned) => feePayer.signReclaim(unsigned, rules),
    isOptional: true,
  });
}

/** The account of the burn's message, where the payer still has its rent in it. */
async function findEvent(node: SolanaNode, chainTx: string, payer: string): Promise<string | undefined> {
  const options = { encoding: "json", commitment: "finalized", maxSupportedTransactionVersion: 1 };
  const answer = await node.request("getTransaction", [chainTx, options]);
  if (answer === null) throw new ProviderFailed("unknown_block", `${node.name} has not kept ${chainTx}`);
  const transaction = parseTransaction(chainTx, answer);
  if (transaction instanceof UnreadableTransaction) return undefined;
  const burn = transaction.instructions.find(
    ({ program, accounts }) => program === cctpMessenger && accounts[EVENT_PAYER] === payer,
  );
  const event = burn?.accounts[EVENT];
  if (event === undefined) return undefined;
  const [account] = await fetchAccounts(node, [event], "finalized");
  return account?.owner === cctpTransmitter ? event : undefined;
}
