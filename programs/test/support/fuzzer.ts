import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import {
  buildBridge,
  buildReclaim,
  buildRescue,
  buildRescueLamports,
  buildSettle,
  buildUnnest,
} from "@tributary/inbox/solana/instructions";
import type { SolanaAccountMeta, SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { associatedTokenProgram, systemProgram, token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import { DOMAIN_BASE } from "./cctpWorld.ts";
import type { Random } from "./random.ts";
import { proxied } from "./refusals.ts";
import type { Scene } from "./scene.ts";
import { associated, fund } from "./tokens.ts";
import { createKeypair } from "./world.ts";
import type { Keypair } from "./world.ts";

// Random instructions that are close to right ones. Signatures are real: an instruction that asks for one that the
// round does not have is sent without it.

export const INSTRUCTIONS = ["settle", "bridge", "rescue", "rescueLamports", "reclaim", "unnest"] as const;
export type InstructionName = (typeof INSTRUCTIONS)[number];

type Template = { readonly name: InstructionName; readonly instruction: SolanaInstruction };

const BATCH_MAX = 4;
const SETTLE_HEAD = 7;
const PAY_HEAD_BYTES = 13;

/** The share of rounds whose instruction stays right, out of 100. */
const UNCHANGED = 60;
const CHANGES_MAX = 3;

export class Fuzzer {
  readonly event = createKeypair();
  readonly #scene: Scene;
  readonly #random: Random;
  readonly #batch: readonly Template[];
  readonly #templates: readonly Template[];
  readonly #pool: readonly string[];

  /** The inboxes of `batch` have equal terms but for the salt. */
  constructor(
    scene: Scene,
    random: Random,
    { batch, others }: { batch: readonly SolanaInbox[]; others: readonly SolanaInbox[] },
  ) {
    this.#scene = scene;
    this.#random = random;
    const all = [...batch, ...others];
    const destination = fund(scene.world, scene.operator, {
      owner: scene.recoverer.address,
      mint: scene.mint,
      units: 0n,
    });
    this.#batch = batch.map((inbox) => ({
      name: "settle",
      instruction: buildSettle([inbox], { rentRecipient: true }),
    }));
    this.#templates = all.flatMap((inbox) => this.#templatesOf(inbox, destination));
    this.#pool = [
      ...all.flatMap(({ address, tokenAccount }) => [address, tokenAccount]),
      scene.thiefAccount,
      scene.payoutAccount,
      scene.feeAccount,
      destination,
      scene.mint,
      scene.otherMint,
      ...[scene.thief, scene.operator, scene.merchant, scene.recoverer].map(({ address }) => address),
      scene.robber,
      scene.program,
      systemProgram,
      tokenProgram,
      token2022Program,
      associatedTokenProgram,
      ...Object.values(deriveCctpAccounts({ mint: scene.mint, domain: DOMAIN_BASE, sender: scene.mint })),
      associated(scene.thief.address, scene.otherMint),
    ];
  }

  #templatesOf(inbox: SolanaInbox, destination: string): Template[] {
    const { mint, thief } = this.#scene;
    const common: Template[] = [
      { name: "rescue", instruction: buildRescue(inbox, { destination }) },
      { name: "rescueLamports", instruction: buildRescueLamports(inbox, this.#scene.recoverer.address) },
      { name: "reclaim", instruction: buildReclaim(inbox) },
      { name: "unnest", instruction: buildUnnest(inbox, mint) },
    ];
    if (inbox.terms.kind === "pay") {
      const settling = [buildSettle([inbox]), buildSettle([inbox], { rentRecipient: true }), buildSettle([inbox])];
      return [...settling.map((instruction) => ({ name: "settle" as const, instruction })), ...common];
    }
    const cctp = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: inbox.address });
    const bridging = ([0, 1, 0] as const).map((route, index) =>
      buildBridge(inbox, { cctp, payer: thief.address, event: this.event.address, route, rentRecipient: index > 1 }),
    );
    return [...bridging.map((instruction) => ({ name: "bridge" as const, instruction })), ...common];
  }

  /** One instruction, changed or not, and who signs it: the first one pays. */
  next(signers: readonly Keypair[]): { name: InstructionName; instruction: SolanaInstruction; by: Keypair[] } {
    const random = this.#random;
    const { name, instruction } = random.below(5) === 0 ? this.#anyBatch() : random.pick(this.#templates);
    let made = instruction;
    if (random.below(100) >= UNCHANGED)
      for (let left = 1 + random.below(CHANGES_MAX); left > 0; left -= 1) made = this.#change(made, signers);
    if (random.below(12) === 0) made = proxied(this.#scene, made);
    return { name, ...this.#sign(made, signers) };
  }

  #anyBatch(): Template {
    const chosen = Array.from({ length: 1 + this.#random.below(BATCH_MAX) }, () => this.#random.pick(this.#batch));
    const [first, ...rest] = chosen.map(({ instruction }) => instruction);
    if (first === undefined) throw new Error("an empty batch");
    const accounts = [...first.accounts, ...rest.flatMap((each) => each.accounts.slice(SETTLE_HEAD))];
    const data = Uint8Array.from([
      ...first.data,
      ...rest.flatMap((each) => Array.from(each.data.slice(PAY_HEAD_BYTES))),
    ]);
    return { name: "settle", instruction: { ...first, accounts, data } };
  }

  #change(made: SolanaInstruction, signers: readonly Keypair[]): SolanaInstruction {
    const random = this.#random;
    const { accounts, data } = made;
    const index = random.below(accounts.length || 1);
    const old = accounts[index];
    if (old === undefined) return made;
    const replace = (meta: SolanaAccountMeta) => ({ ...made, accounts: accounts.with(index, meta) });
    switch (random.below(9)) {
      case 0:
        return data.length === 0 ? made : { ...made, data: data.with(random.below(data.length), random.below(256)) };
      case 1:
        return replace({ ...old, address: random.pick(this.#pool) });
      case 2:
        return replace({ address: random.pick(signers).address, isSigner: true, isWritable: true });
      case 3: {
        const other = random.below(accounts.length);
        return { ...made, accounts: accounts.with(index, accounts[other] ?? old).with(other, old) };
      }
      case 4:
        return { ...made, accounts: [...accounts, random.below(2) === 0 ? random.pick(accounts) : this.#further()] };
      case 5:
        return { ...made, accounts: accounts.slice(0, -1) };
      case 6:
        return { ...made, data: random.below(2) === 0 ? data.slice(0, -1) : Uint8Array.from([...data, 0]) };
      case 7:
        return replace({ ...old, isWritable: !old.isWritable });
      default:
        return replace({ ...old, isWritable: true });
    }
  }

  /** What a thief may want to have in reach of the messenger. */
  #further(): SolanaAccountMeta {
    return { address: this.#random.pick(this.#pool), isSigner: false, isWritable: this.#random.below(2) === 0 };
  }

  /** Asks only for signatures that the round has. */
  #sign(made: SolanaInstruction, signers: readonly Keypair[]): { instruction: SolanaInstruction; by: Keypair[] } {
    const available = new Map([...signers, this.event].map((key) => [key.address, key]));
    const accounts = made.accounts.map((meta) => ({ ...meta, isSigner: meta.isSigner && available.has(meta.address) }));
    const [payer, ...rest] = signers;
    if (payer === undefined) throw new Error("nobody pays");
    const needed = new Set(accounts.flatMap(({ address, isSigner }) => (isSigner ? [address] : [])));
    const others = [...rest, this.event].filter(({ address }) => needed.has(address));
    return { instruction: { ...made, accounts }, by: [payer, ...others] };
  }
}
