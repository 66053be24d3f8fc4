import type { SolanaMessage } from "@tributary/inbox/solana/message";
import { insertOutgoing, type SignedBytes } from "../outgoing/outgoingStore.ts";
import { SettleRefused, type PreparedTransaction, type SenderWorld } from "../sender.ts";
import { chooseLifetime } from "./send/chooseLifetime.ts";
import { requestPrice, requestPriceOf, type OfferedPrice } from "./send/priorityFees.ts";
import type { SolanaSenderContext } from "./send/senderContext.ts";
import { withBudget } from "./send/settleTransaction.ts";
import type { Outlook } from "./send/simulateSettlement.ts";

/**
 * Two equal transactions with one blockhash would be the same bytes, and the cluster takes bytes once. The limit
 * distinguishes them.
 */
const DISTINCT_LIMITS = 1_000n;

type UnsignedMessage = Pick<SolanaMessage, "blockhash" | "instructions">;

/**
 * Prices the transaction that an outlook plans. `sign` signs it later, in the caller's database transaction.
 * `isOptional`: it is not prepared while the priority fee exceeds the ceiling. Throws SettleRefused for an outlook
 * without a plan.
 */
export async function prepareTransaction(
  world: SenderWorld,
  context: SolanaSenderContext,
  work: {
    outlook: () => Promise<Outlook>;
    sign: (message: UnsignedMessage, at: Date) => SignedBytes;
    isOptional?: boolean;
  },
): Promise<PreparedTransaction | undefined> {
  const { caip2: chain, feePayer, providers } = context;
  const isRefused = ({ isExceeded }: OfferedPrice) => isExceeded && work.isOptional === true;
  if (isRefused(await requestPrice(world, context))) return undefined;
  const outlook = await work.outlook();
  if ("refusal" in outlook) throw new SettleRefused(outlook.refusal);
  const { computeUnits, instructions, isBare = false } = outlook.plan;
  const offered = await requestPriceOf(world, context, instructions);
  if (isRefused(offered)) return undefined;
  const { price } = offered;
  const { blockhash, lastValidHeight } = await chooseLifetime(providers);
  return {
    store: (tx, at) => {
      const sign = (id: bigint) => {
        const units = computeUnits + Number(id % DISTINCT_LIMITS);
        const calls = isBare ? instructions : withBudget({ units, price }, instructions);
        return work.sign({ blockhash, instructions: calls }, at);
      };
      return insertOutgoing(tx, { chain, sender: feePayer.address, sign, lastValidHeight, at });
    },
  };
}
