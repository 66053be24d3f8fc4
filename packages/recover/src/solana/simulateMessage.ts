import { encodeTransaction, type EncodedMessage } from "@tributary/inbox/solana/message";
import type { RpcRequester } from "../rpc/rpcRequester.ts";
import { encodeBase64 } from "./sendSolanaTransaction.ts";

type Simulation = { readonly err: unknown; readonly logs?: readonly string[] | null };

const NO_SIGNATURE = new Uint8Array(64);

/** The inbox program's errors that a well-formed call can have, by their numbers. */
const PROGRAM_ERRORS: Readonly<Record<number, string>> = {
  0x104: "its mint is no token of its token program here",
  0x106: "its token account holds nothing any more",
  0x107: "the token's issuer froze the inbox",
  0x108: "the token account of the payout wallet is frozen, or belongs to somebody else",
  0x10b: "less than the minimum of its terms would be bridged",
  0x10d: "the bridge took another amount than it was given",
  0x10f: "the recovery date has not come",
  0x110: "there is nothing to move any more",
  0x112: "it holds more than rent, which only the recovery key may take",
};

/** Has the cluster run the message without signatures. Throws an Error with the reason when it would fail. */
export async function simulateMessage(request: RpcRequester, message: EncodedMessage): Promise<void> {
  const unsigned = encodeTransaction(message, new Map(message.signers.map((address) => [address, NO_SIGNATURE])));
  const options = { encoding: "base64", commitment: "confirmed", sigVerify: false, replaceRecentBlockhash: true };
  const { value } = (await request("simulateTransaction", [encodeBase64(unsigned), options])) as { value: Simulation };
  if (value.err !== null)
    throw new Error(`The cluster would refuse it, so the wallet was not asked: ${describeFailure(value)}.`);
}

function describeFailure({ err, logs }: Simulation): string {
  const lines = logs ?? [];
  const hasNoCoins =
    err === "AccountNotFound" ||
    err === "InsufficientFundsForFee" ||
    lines.some((line) => line.includes("insufficient lamports"));
  if (hasNoCoins) return "the connected wallet has too little SOL for the fee and the rent";
  const known = PROGRAM_ERRORS[readErrorNumber(err) ?? 0];
  if (known !== undefined) return known;
  const line = lines.findLast((each) => /failed|error/i.test(each));
  return `${JSON.stringify(err)}${line === undefined ? "" : `, ${line}`}`;
}

function readErrorNumber(err: unknown): number | undefined {
  const { InstructionError: failed } = (err ?? {}) as { InstructionError?: readonly unknown[] };
  const { Custom: number } = (failed?.[1] ?? {}) as { Custom?: unknown };
  return typeof number === "number" ? number : undefined;
}
