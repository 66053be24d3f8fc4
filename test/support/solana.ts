import { after } from "node:test";
import { deriveTokenAccount } from "@tributary/inbox/solana/derive";
import { tokenProgram } from "@tributary/inbox/solana/keys";
import { LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../packages/local-solana/src/fixtures.ts";
import { createTokenAccount, transferTokens } from "../../packages/local-solana/src/instructions.ts";
import { createKeypair } from "../../packages/local-solana/src/keypairs.ts";
import type { Keypair } from "../../packages/local-solana/src/keypairs.ts";
import { startLocalSolana } from "../../packages/local-solana/src/startLocalSolana.ts";
import type { LocalSolana, LocalSolanaOptions } from "../../packages/local-solana/src/startLocalSolana.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { drawBytes } from "./drawBytes.ts";

// A local Solana for tests. Its slots are driven by hand: `control.nextSlot()`.

let shared: Promise<LocalSolana> | undefined;

/** The chain that all tests of a process share. It ends with the process. */
export function sharedSolana(): Promise<LocalSolana> {
  shared ??= startLocalSolana({ clock: systemClock, slotMs: 0, name: "shared" }).then((solana) => {
    solana.unref();
    return solana;
  });
  return shared;
}

/** A chain of its own. It stops after the test that calls, or after the file when none runs. */
export async function startTestSolana(options: Partial<LocalSolanaOptions> = {}): Promise<LocalSolana> {
  const solana = await startLocalSolana({ clock: systemClock, slotMs: 0, ...options });
  after(() => solana.stop());
  return solana;
}

/** A new key; with lamports, an account that can pay fees. */
export function createWallet({ control }: LocalSolana, lamports = 1_000_000_000n): Keypair {
  const wallet = createKeypair(drawBytes(32));
  if (lamports > 0n) control.airdrop(wallet.address, lamports);
  return wallet;
}

export type TestPayment = {
  /** Owner of the token account that receives. */
  readonly to: string;
  readonly units: bigint;
  /** Default USDC. */
  readonly mint?: string;
  readonly program?: string;
  /** Default the payer of the local chain, which holds every token. */
  readonly from?: Keypair;
};

/**
 * Pays as a wallet does: creates the receiver's token account if it is missing, then transfers. Returns the signature.
 */
export function payTokens({ control }: LocalSolana, payment: TestPayment): string {
  const { to, units, mint = LOCAL_MINTS.USDC.address, program = tokenProgram, from = SOLANA_ACCOUNTS.payer } = payment;
  const accountOf = (owner: string) => deriveTokenAccount(owner, mint, program).address;
  const transfer = { from: accountOf(from.address), to: accountOf(to), owner: from.address, mint, units, program };
  return control.send(
    [from],
    [createTokenAccount(from.address, { owner: to, mint, program }), transferTokens(transfer)],
  );
}

export type RpcReply = {
  readonly result?: unknown;
  readonly error?: { code: number; message: string; data?: unknown };
};

/** Sends a body as it is; returns the reply, which is undefined when it is empty. */
export async function postRpc({ url }: LocalSolana, body: unknown): Promise<unknown> {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(url, { method: "POST", body: text, headers: { "content-type": "application/json" } });
  const reply = await response.text();
  return reply === "" ? undefined : JSON.parse(reply);
}

export async function callRpc(solana: LocalSolana, method: string, ...params: readonly unknown[]): Promise<RpcReply> {
  return (await postRpc(solana, { jsonrpc: "2.0", id: 1, method, params })) as RpcReply;
}
