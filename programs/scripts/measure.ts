import type { SolanaInbox } from "@tributary/inbox/solana/address";
import { cctpMessenger, deriveCctpAccounts } from "@tributary/inbox/solana/cctp";
import {
  buildBridge,
  buildReclaim,
  buildRescue,
  buildRescueLamports,
  buildSettle,
  buildUnnest,
} from "@tributary/inbox/solana/instructions";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import { deriveAddress } from "@tributary/inbox/solana/derive";
import { decodeKey, token2022Program } from "@tributary/inbox/solana/keys";
import { DOMAIN_BASE } from "../test/support/cctpWorld.ts";
import { RECOVER_AFTER, Scene, START } from "../test/support/scene.ts";
import { createAssociated, createMint, fund, sendLamports } from "../test/support/tokens.ts";
import { createKeypair } from "../test/support/world.ts";
import type { Keypair } from "../test/support/world.ts";

export type Cost = {
  readonly name: string;
  readonly computeUnits: number;
  /** Length of the transaction. */
  readonly bytes: number;
  /** What the operator gains or pays; undefined where the operator takes no part. */
  readonly operatorLamports: bigint | undefined;
};

const BATCH = 8;
/** What the runtime charges for each bump that gives no address. */
const UNITS_PER_BUMP = 1_500;
const BUMP_MAX = 255;

/** Runs each transaction once. Bridges run against the doubles of Circle's programs. */
export function measureCosts(): Cost[] {
  const scene = new Scene();
  return [...measureSettling(scene), ...measureOthers(scene), ...measureBridge(scene)];
}

type Run = {
  readonly by: readonly Keypair[];
  readonly instructions: readonly SolanaInstruction[];
  readonly each?: number;
  /** Compute units that are chance, and not part of the figure. */
  readonly searched?: number;
};

function measure({ world, operator }: Scene, name: string, { by, instructions, each = 1, searched = 0 }: Run): Cost {
  const before = world.lamports(operator.address);
  const { computeUnits, bytes } = world.must(by, instructions);
  const isOperator = by.includes(operator);
  const operatorLamports = isOperator ? world.lamports(operator.address) - before : undefined;
  return { name, computeUnits: Math.ceil((computeUnits - searched) / each), bytes, operatorLamports };
}

function measureSettling(scene: Scene): Cost[] {
  const { world, operator, stranger, mint } = scene;
  const closing = (...inboxes: SolanaInbox[]) => buildSettle(inboxes, { rentRecipient: true });
  const fresh = world.createWallet(0n).address;
  const first = scene.paid(100_000_000n, { payout: fresh });
  const single = scene.paid(100_000_000n);
  const strange = scene.paid(100_000_000n);
  const batch = Array.from({ length: BATCH }, () => scene.paid(100_000_000n));
  const primed = scene.paid(100_000_000n);
  world.must([operator], [sendLamports(operator, primed.address, 890_880n)]);
  const ofToken2022 = prepareToken2022(scene);
  return [
    measure(scene, "settle and close", { by: [operator], instructions: [closing(single)] }),
    measure(scene, "settle and close, payout account created", {
      by: [operator],
      instructions: [createAssociated(operator, fresh, { mint }), closing(first)],
    }),
    measure(scene, "settle by a stranger", { by: [stranger], instructions: [buildSettle([strange])] }),
    measure(scene, "settle, empty inbox", { by: [stranger], instructions: [buildSettle([strange])] }),
    measure(scene, `${BATCH} inboxes in one instruction, closed, each`, {
      by: [operator],
      instructions: [closing(...batch)],
      each: BATCH,
    }),
    measure(scene, "settle, close and reclaim", {
      by: [operator],
      instructions: [closing(primed), buildReclaim(primed)],
    }),
    measure(scene, "settle and close, Token-2022", { by: [operator], instructions: [closing(ofToken2022)] }),
  ];
}

function prepareToken2022(scene: Scene): SolanaInbox {
  const { world, operator, merchant, payer, feeOwner } = scene;
  const program = token2022Program;
  const mint = createMint(world, operator, { program });
  const open = (owner: Keypair, units: bigint) => fund(world, operator, { owner: owner.address, mint, units, program });
  open(merchant, 0n);
  const from = open(payer, 10n ** 12n);
  const inbox = scene.pay({ mint, feeAccount: open(feeOwner, 0n), tokenProgram: program });
  scene.deposit(inbox, 100_000_000n, from);
  return inbox;
}

function measureOthers(scene: Scene): Cost[] {
  const { world, operator, stranger, recoverer, payer, mint, otherMint } = scene;
  const open = (owner: string, units: bigint, of: string) => fund(world, operator, { owner, mint: of, units });
  const inbox = scene.paid(100_000_000n);
  const wrong = open(inbox.address, 5n, otherMint);
  const destination = open(recoverer.address, 0n, mint);
  const otherDestination = open(recoverer.address, 0n, otherMint);
  open(inbox.tokenAccount, 7n, mint);
  world.must([payer], [sendLamports(payer, inbox.address, 5_000_000_000n)]);
  const other = { tokenAccount: wrong, mint: otherMint, destination: otherDestination, lamportsTo: recoverer.address };
  const costs = [
    measure(scene, "unnest", { by: [stranger], instructions: [buildUnnest(inbox, mint)] }),
    measure(scene, "rescue another mint and close", { by: [recoverer], instructions: [buildRescue(inbox, other)] }),
    measure(scene, "rescue lamports", {
      by: [recoverer],
      instructions: [buildRescueLamports(inbox, recoverer.address)],
    }),
  ];
  world.setTime(RECOVER_AFTER);
  const pinned = { by: [recoverer], instructions: [buildRescue(inbox, { destination })] };
  costs.push(measure(scene, "rescue the pinned mint", pinned));
  world.setTime(START);
  return costs;
}

/** What the double spends on bumps that give no address. Two differ by inbox and mint. */
function searchUnits(inbox: SolanaInbox): number {
  const text = (words: string) => new TextEncoder().encode(words);
  const searches: readonly (readonly [times: number, ...seeds: Uint8Array[]])[] = [
    [1, text("denylist_account"), decodeKey("inbox", inbox.address)],
    [1, text("local_token"), decodeKey("mint", inbox.terms.mint)],
    [2, text("sender_authority")],
    [3, text("__event_authority")],
  ];
  return searches.reduce((sum, [times, ...seeds]) => {
    const { bump } = deriveAddress(seeds, cctpMessenger);
    return sum + times * (BUMP_MAX - bump) * UNITS_PER_BUMP;
  }, 0);
}

function measureBridge(scene: Scene): Cost[] {
  const { operator, stranger, mint } = scene;
  const run = (by: Keypair, isClosing: boolean): Run => {
    const inbox = scene.paidHop(100_000_000n);
    const event = createKeypair();
    const cctp = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: inbox.address });
    const options = { cctp, payer: by.address, event: event.address, route: 0, rentRecipient: isClosing } as const;
    return { by: [by, event], instructions: [buildBridge(inbox, options)], searched: searchUnits(inbox) };
  };
  return [
    measure(scene, "bridge by a stranger (double)", run(stranger, false)),
    measure(scene, "bridge and close by the operator (double)", run(operator, true)),
  ];
}
