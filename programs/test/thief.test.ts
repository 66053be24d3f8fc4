import assert from "node:assert/strict";
import { test } from "node:test";
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
import { token2022Program } from "@tributary/inbox/solana/keys";
import type { SolanaHopTerms, SolanaPayTerms, SolanaTerms } from "@tributary/inbox/solana/terms";
import { DOMAIN_BASE } from "./support/cctpWorld.ts";
import { burned, gained, lamportsGained, takeSnapshot } from "./support/ledger.ts";
import { Random } from "./support/random.ts";
import { proxied } from "./support/refusals.ts";
import { evmInbox, RECOVER_AFTER, Scene, START } from "./support/scene.ts";
import { approve, associated, closeTokens, createAssociated, sendLamports, transferTokens } from "./support/tokens.ts";
import { createKeypair } from "./support/world.ts";

// A thief with every key of the installation: operator, fee wallet, payer, and a messenger and a mint of his own. Only
// the keys of the merchant's payout wallet and recovery are not his. He sends his transactions before and after
// recoverAfter.

const TRANSACTIONS = 1_200;
const DEPOSIT = 50_000_000n;
const SOL = 3_000_000_000n;

const scene = new Scene();
const { world, mint, operator, thief, feeOwner, merchant, recoverer, feeAccount, payoutAccount, thiefAccount } = scene;
const random = new Random("thief");
const keys = [thief, operator, feeOwner];
const pays = [scene.paid(DEPOSIT), scene.paid(DEPOSIT), scene.paid(DEPOSIT, { feeBps: 1_000 })];
const hops = [scene.paidHop(DEPOSIT), scene.paidHop(DEPOSIT, { minAmount: 0n })];
const victims = [...pays, ...hops];
for (const { address } of victims) world.must([operator], [sendLamports(operator, address, SOL)]);
const event = createKeypair();
const operatorAccount = associated(operator.address, mint);
world.must([operator], [createAssociated(operator, operator.address, { mint })]);
const fakeLocal = createKeypair().address;
world.put(fakeLocal, {
  owner: scene.robber,
  data: Buffer.concat([Buffer.alloc(79, 255), Buffer.of(0), Buffer.alloc(49)]),
});

const issuer = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: mint });
const denylists = new Map<string, string>();
const writable = (address: string): SolanaAccountMeta => ({ address, isSigner: false, isWritable: true });
const targets = [thiefAccount, operatorAccount, feeAccount];

/** The victim's terms with one or two of them in the thief's favour. */
function forgeTerms(terms: SolanaTerms): SolanaTerms {
  const common = [
    { recovery: thief.address },
    { recoverAfter: 0 },
    { rentRecipient: thief.address },
    { recovery: operator.address, recoverAfter: 0 },
  ];
  if (terms.kind === "hop") {
    const [fast, standard] = terms.routes;
    const changes: Partial<SolanaHopTerms>[] = [
      ...common,
      { mintRecipient: evmInbox("66") },
      { messenger: scene.robber },
      { minAmount: 1n },
      { domain: 0 },
      { routes: [{ ...fast, feePpmMax: 100_000 }, standard] },
    ];
    return { ...terms, ...random.pick(changes), ...random.pick(changes) };
  }
  const changes: Partial<SolanaPayTerms>[] = [
    ...common,
    { payout: thief.address },
    { payout: operator.address, feeAccount: operatorAccount },
    { feeAccount: thiefAccount },
    { feeBps: 1_000 },
    { mint: scene.otherMint },
  ];
  return { ...terms, ...random.pick(changes), ...random.pick(changes) };
}

/** The victim, or its accounts under terms that are better for the thief; then every bump is right for those terms. */
function anyView(victim: SolanaInbox): SolanaInbox {
  if (random.below(4) === 0) return victim;
  const forged = scene.compute(forgeTerms(victim.terms));
  const address = random.below(6) === 0 ? forged.address : victim.address;
  return { ...forged, address, tokenAccount: victim.tokenAccount };
}

function anyAttempt(victim: SolanaInbox): SolanaInstruction {
  const view = anyView(victim);
  const { kind } = view.terms;
  const target = random.pick(targets);
  switch (random.below(8)) {
    case 0:
    case 1:
      return kind === "pay" ? settleTo(view, target) : bridgeBy(view);
    case 2:
      return buildRescue(view, {
        destination: target,
        ...(random.below(2) === 0 ? { lamportsTo: thief.address } : {}),
      });
    case 3:
      return buildRescueLamports(view, thief.address);
    case 4:
      return buildReclaim(view);
    case 5: {
      const made = buildUnnest(view, mint);
      return { ...made, accounts: made.accounts.with(10, writable(target)) };
    }
    case 6:
      return random.pick([
        transferTokens({ from: victim.tokenAccount, to: target, mint, owner: thief.address, units: 1n }),
        closeTokens(victim.tokenAccount, thief.address, operator),
        approve(victim.tokenAccount, thief.address, thief),
      ]);
    default:
      return kind === "pay"
        ? bridgeBy({ ...scene.hop(), address: victim.address, tokenAccount: victim.tokenAccount })
        : settleTo({ ...scene.pay(), address: victim.address, tokenAccount: victim.tokenAccount }, target);
  }
}

function settleTo(view: SolanaInbox, target: string): SolanaInstruction {
  const made = buildSettle([view], { rentRecipient: random.below(2) === 0 });
  return random.below(2) === 0 ? made : { ...made, accounts: made.accounts.with(6, writable(target)) };
}

function bridgeBy(view: SolanaInbox): SolanaInstruction {
  const denylist =
    denylists.get(view.address) ?? deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: view.address }).denylist;
  denylists.set(view.address, denylist);
  const cctp = { ...issuer, denylist };
  const change = random.pick([
    {},
    { localToken: fakeLocal, transmitterState: thiefAccount },
    { transmitter: scene.robber },
    { localToken: fakeLocal },
  ]);
  const route = random.below(2) === 0 ? 0 : 1;
  return buildBridge(view, { cctp: { ...cctp, ...change }, payer: thief.address, event: event.address, route });
}

/** Swaps, duplicates or retargets an account, or changes a byte. */
function twist(made: SolanaInstruction): SolanaInstruction {
  const { accounts, data } = made;
  const index = random.below(accounts.length);
  const [one, other] = [accounts[index], random.pick(accounts)];
  if (one === undefined) return made;
  switch (random.below(6)) {
    case 0:
      return { ...made, accounts: accounts.with(index, other) };
    case 1:
      return { ...made, accounts: accounts.with(index, writable(random.pick(targets))) };
    case 2:
      return {
        ...made,
        accounts: accounts.with(index, {
          ...one,
          address: random.pick(keys).address,
          isSigner: true,
          isWritable: true,
        }),
      };
    case 3:
      return data.length === 0 ? made : { ...made, data: data.with(random.below(data.length), random.below(256)) };
    case 4:
      return {
        ...made,
        accounts: accounts.with(1, {
          ...one,
          address: random.pick([token2022Program, scene.robber]),
          isSigner: false,
          isWritable: false,
        }),
      };
    default:
      return proxied(scene, made);
  }
}

/** The thief has no other signatures, so he sends what asks for them without. */
function signable(made: SolanaInstruction) {
  const available = new Map([...keys, event].map((key) => [key.address, key]));
  const accounts = made.accounts.map((meta) => ({ ...meta, isSigner: meta.isSigner && available.has(meta.address) }));
  const needed = accounts.flatMap(({ address, isSigner }) => (isSigner ? (available.get(address) ?? []) : []));
  return { by: [...new Set([thief, ...needed])], instruction: { ...made, accounts } };
}

test(`${TRANSACTIONS} transactions of a thief with every other key move no unit but to payout and fee`, () => {
  const watched = [
    ...victims.flatMap(({ address, tokenAccount }) => [address, tokenAccount]),
    feeAccount,
    payoutAccount,
    thiefAccount,
    operatorAccount,
    ...[thief, operator, merchant, recoverer].map((key) => key.address),
  ];
  let honest = 0;
  for (let run = 0; run < TRANSACTIONS; run += 1) {
    const victim = random.pick(victims);
    world.setTime(random.below(3) === 0 ? RECOVER_AFTER : START);
    let made = anyAttempt(victim);
    if (random.below(3) === 0) made = twist(made);
    const { by, instruction } = signable(made);
    const before = takeSnapshot(world, watched, mint);
    const outcome = world.send(by, [instruction]);
    if (!outcome.ok) continue;
    const after = takeSnapshot(world, watched, mint);
    const takenOf = (inboxes: readonly SolanaInbox[]) =>
      inboxes.reduce((sum, inbox) => sum - gained(before, after, inbox.tokenAccount), 0n);
    const settled = pays.filter((inbox) => gained(before, after, inbox.tokenAccount) < 0n);
    const feeMax = settled.reduce(
      (sum, inbox) => sum + (inbox.terms.kind === "pay" ? (DEPOSIT * BigInt(inbox.terms.feeBps)) / 10_000n : 0n),
      0n,
    );
    const own = gained(before, after, thiefAccount) + gained(before, after, operatorAccount);
    assert.ok(own <= 0n, `stole ${own} units`);
    assert.equal(takenOf(hops), burned(before, after));
    const feeGain = gained(before, after, feeAccount) + own;
    assert.ok(feeGain <= feeMax, "more than the fee");
    assert.equal(gained(before, after, payoutAccount), takenOf(pays) - feeMax);
    for (const { address } of victims) assert.equal(lamportsGained(before, after, address), 0n, "SOL of a payer");
    honest += settled.length;
    for (const inbox of victims)
      if (world.units(inbox.tokenAccount) < DEPOSIT) scene.deposit(inbox, DEPOSIT - world.units(inbox.tokenAccount));
  }
  assert.ok(honest > 0 && honest < TRANSACTIONS / 2);
});
