import { createHash } from "node:crypto";
import { computeSolanaInbox } from "@tributary/inbox/solana/address";
import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { decodeKey, tokenProgram } from "@tributary/inbox/solana/keys";
import { cctpMessenger } from "@tributary/inbox/solana/cctp";
import type { SolanaHopTerms, SolanaPayTerms } from "@tributary/inbox/solana/terms";
import type { Hex } from "@tributary/inbox/terms";
import { installDoubles } from "./cctpWorld.ts";
import { readElf } from "./elf.ts";
import { createAssociated, createMint, fund, mintTokens, transferTokens } from "./tokens.ts";
import { createKeypair, World } from "./world.ts";
import type { Keypair } from "./world.ts";

// One merchant, one operator and everybody around them.

export const START = 1_800_000_000;
export const RECOVER_AFTER = 1_815_000_000;
export const FEE_BPS = 50;

type Change<Type> = Partial<Omit<Type, "kind">> & { tokenProgram?: string };

export class Scene {
  readonly world: World;
  readonly operator: Keypair;
  readonly merchant: Keypair;
  readonly recoverer: Keypair;
  readonly feeOwner: Keypair;
  readonly payer: Keypair;
  readonly stranger: Keypair;
  readonly thief: Keypair;
  readonly program = createKeypair().address;
  /** The thief's program: a messenger and a proxy. */
  readonly robber = createKeypair().address;
  readonly mint: string;
  readonly otherMint: string;
  readonly payerAccount: string;
  readonly feeAccount: string;
  readonly payoutAccount: string;
  readonly thiefAccount: string;
  readonly payTerms: SolanaPayTerms;
  readonly hopTerms: SolanaHopTerms;
  #salts = 0;

  /** The price of a byte by default as on public clusters. */
  constructor(lamportsPerByte?: bigint) {
    const world = new World(lamportsPerByte);
    this.world = world;
    this.operator = world.createWallet();
    this.merchant = world.createWallet();
    this.recoverer = world.createWallet();
    this.feeOwner = world.createWallet();
    this.payer = world.createWallet();
    this.stranger = world.createWallet();
    this.thief = world.createWallet();
    const { operator } = this;
    world.setTime(START);
    world.svm.addProgram(decodeKey("program", this.program), readElf("inbox"));
    world.svm.addProgram(decodeKey("program", this.robber), readElf("thief"));
    this.mint = createMint(world, operator);
    this.otherMint = createMint(world, operator);
    const open = (owner: Keypair, units: bigint) =>
      fund(world, operator, { owner: owner.address, mint: this.mint, units });
    this.payerAccount = open(this.payer, 10n ** 17n);
    this.feeAccount = open(this.feeOwner, 0n);
    this.payoutAccount = open(this.merchant, 0n);
    this.thiefAccount = open(this.thief, 10n ** 9n);
    installDoubles(world, this.mint);
    const common = {
      mint: this.mint,
      rentRecipient: operator.address,
      recovery: this.recoverer.address,
      recoverAfter: RECOVER_AFTER,
      salt: saltOf(0),
    };
    this.payTerms = {
      ...common,
      kind: "pay",
      payout: this.merchant.address,
      feeAccount: this.feeAccount,
      feeBps: FEE_BPS,
    };
    this.hopTerms = {
      ...common,
      kind: "hop",
      mintRecipient: evmInbox("ab"),
      messenger: cctpMessenger,
      minAmount: 1_000_000n,
      domain: 6,
      routes: [
        { feePpmMax: 3_000, finalityThreshold: 1_000 },
        { feePpmMax: 1_000, finalityThreshold: 2_000 },
      ],
    };
  }

  /** A new inbox of these terms. */
  pay({ tokenProgram: program = tokenProgram, ...change }: Change<SolanaPayTerms> = {}): SolanaInbox {
    return this.compute({ ...this.payTerms, salt: this.nextSalt(), ...change }, program);
  }

  hop({ tokenProgram: program = tokenProgram, ...change }: Change<SolanaHopTerms> = {}): SolanaInbox {
    return this.compute({ ...this.hopTerms, salt: this.nextSalt(), ...change }, program);
  }

  compute(terms: SolanaPayTerms | SolanaHopTerms, program = tokenProgram): SolanaInbox {
    return computeSolanaInbox(terms, { program: this.program, tokenProgram: program });
  }

  nextSalt(): Hex {
    this.#salts += 1;
    return saltOf(this.#salts);
  }

  /** Sends tokens to an inbox as a wallet does: creates its token account, then transfers. */
  deposit(inbox: SolanaInbox, units: bigint, from = this.payerAccount): void {
    const { mint } = inbox.terms;
    this.world.must(
      [this.payer],
      [
        createAssociated(this.payer, inbox.address, { mint, program: inbox.tokenProgram }),
        transferTokens({
          from,
          to: inbox.tokenAccount,
          mint,
          owner: this.payer.address,
          units,
          program: inbox.tokenProgram,
        }),
      ],
    );
  }

  /** A new inbox with a deposit. */
  paid(units: bigint, change: Change<SolanaPayTerms> = {}): SolanaInbox {
    const inbox = this.pay(change);
    this.deposit(inbox, units);
    return inbox;
  }

  /** A new inbox with a deposit that another chain pays out. */
  paidHop(units: bigint, change: Change<SolanaHopTerms> = {}): SolanaInbox {
    const inbox = this.hop(change);
    this.deposit(inbox, units);
    return inbox;
  }

  mintTo(to: string, units: bigint): void {
    this.world.must([this.operator], [mintTokens(this.operator, { mint: this.mint, to, units })]);
  }
}

export function saltOf(number: number): Hex {
  return `0x${createHash("sha256").update(`salt ${number}`).digest("hex")}`;
}

/** An address of an EVM chain, as a mint recipient. */
export function evmInbox(byte: string): Hex {
  return `0x${"00".repeat(12)}${byte.repeat(20)}`;
}
