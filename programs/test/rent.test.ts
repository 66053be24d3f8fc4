import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
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
import { lamportsPrimed, lamportsRentEnd } from "@tributary/inbox/solana/lamportBounds";
import { programsDirectory } from "../scripts/compile.ts";
import { DOMAIN_BASE } from "./support/cctpWorld.ts";
import { assertRefused } from "./support/refusals.ts";
import { RECOVER_AFTER, Scene } from "./support/scene.ts";
import { associated, createAssociated, fund, sendLamports } from "./support/tokens.ts";
import { createKeypair, PRICES_OF_A_BYTE } from "./support/world.ts";

// The program's two bounds of lamports, and each instruction, at every price of a byte that public clusters have had or announced.

const ACCOUNT_BYTES = 165;
const EVENT_BYTES = 428;
const SIGNATURE = 5_000n;
const [HIGHEST] = PRICES_OF_A_BYTE;
const PAIRS = PRICES_OF_A_BYTE.flatMap((opened) => PRICES_OF_A_BYTE.map((closed) => [opened, closed] as const));

/** What a wallet's lamports change by. */
function changeOf({ world }: Scene, address: string, act: () => void): bigint {
  const before = world.lamports(address);
  act();
  return world.lamports(address) - before;
}

function bridgeAndClose(scene: Scene, inbox: SolanaInbox): void {
  const { world, operator, mint } = scene;
  const event = createKeypair();
  const cctp = deriveCctpAccounts({ mint, domain: DOMAIN_BASE, sender: inbox.address });
  const options = { cctp, payer: operator.address, event: event.address, route: 0, rentRecipient: true } as const;
  world.must([operator, event], [buildBridge(inbox, options)]);
}

test("the bounds that other code mirrors are those of the program", async () => {
  const read = (name: string) => readFile(join(programsDirectory, "src", name), "utf8");
  assert.match(await read("sign.h"), new RegExp(`LAMPORTS_RENT_END = ${lamportsRentEnd} `));
  assert.match(await read("lamports.h"), new RegExp(`LAMPORTS_PRIMED = ${lamportsPrimed} `));
});

test("twice the highest rent of a token account is below the first bound, and the second is the highest rent of an account", () => {
  const highest = new Scene(HIGHEST).world;
  assert.ok(2n * highest.rent(ACCOUNT_BYTES) < lamportsRentEnd);
  assert.equal(highest.rent(0), lamportsPrimed);
  assert.equal(new Scene().world.rent(ACCOUNT_BYTES), 1_488_440n);
});

for (const [opened, closed] of PAIRS)
  test(`a byte costs ${opened} lamports when accounts are opened and ${closed} later: every rent returns in full`, () => {
    const scene = new Scene(opened);
    const { world, operator, payer, stranger, recoverer, mint, otherMint } = scene;
    const rent = world.rent(ACCOUNT_BYTES);
    const [settled, bridged, primed, unused] = [
      scene.paid(5_000_000n),
      scene.paidHop(5_000_000n),
      scene.pay(),
      scene.pay(),
    ];
    world.must([payer], [sendLamports(payer, primed.address, world.rent(0))]);
    world.must([operator], [createAssociated(operator, unused.address, { mint })]);
    const nested = scene.paid(5_000_000n);
    fund(world, operator, { owner: nested.tokenAccount, mint, units: 7n });
    const other = fund(world, operator, { owner: settled.address, mint: otherMint, units: 9n });
    const destination = fund(world, operator, { owner: recoverer.address, mint: otherMint, units: 0n });
    world.setRent(closed);
    const gain = (act: () => void) => changeOf(scene, operator.address, act) + SIGNATURE;
    const close = (inbox: SolanaInbox) => world.must([operator], [buildSettle([inbox], { rentRecipient: true })]);
    assert.equal(
      gain(() => close(settled)),
      rent,
    );
    assert.equal(
      gain(() => close(unused)),
      rent,
    );
    assert.equal(
      gain(() => bridgeAndClose(scene, bridged)),
      rent - world.rent(EVENT_BYTES) - SIGNATURE,
    );
    assert.equal(
      gain(() => world.must([operator], [buildReclaim(primed)])),
      128n * opened,
    );
    // The nested account's rent goes to the inbox, which must then hold the rent of an account.
    const added = world.rent(0);
    const unnest = () =>
      world.must([stranger], [sendLamports(stranger, nested.address, added), buildUnnest(nested, mint)]);
    assert.equal(changeOf(scene, nested.address, unnest), rent + added);
    assert.equal(world.units(nested.tokenAccount), 5_000_007n);
    const rescue = { tokenAccount: other, mint: otherMint, destination, lamportsTo: recoverer.address };
    assert.equal(
      changeOf(scene, recoverer.address, () => world.must([recoverer], [buildRescue(settled, rescue)])) + SIGNATURE,
      rent,
    );
    for (const { tokenAccount } of [settled, unused, bridged]) assert.equal(world.exists(tokenAccount), false);
  });

for (const price of PRICES_OF_A_BYTE)
  test(`a byte costs ${price} lamports: the bounds hold, and a payer's SOL is never the operator's`, () => {
    const scene = new Scene(price);
    const { world, payer, operator, recoverer, stranger } = scene;
    const send = (to: string, lamports: bigint) => world.must([payer], [sendLamports(payer, to, lamports)]);
    const refuse = (name: string, victim: SolanaInbox, instructions: Parameters<typeof world.send>[1]) =>
      assertRefused(scene, name, { victim, by: [operator], instructions, why: "EXCESS" });
    const rich = scene.pay();
    send(rich.address, lamportsRentEnd);
    refuse("the first bound", rich, [buildReclaim(rich)]);
    world.must([recoverer], [buildRescueLamports(rich, stranger.address)]);
    assert.equal(world.lamports(rich.address), lamportsPrimed);
    assert.ok(lamportsPrimed >= world.rent(0));
    send(rich.address, lamportsRentEnd - lamportsPrimed - 1n);
    const one = { victim: rich, by: [recoverer], instructions: [buildRescueLamports(rich, stranger.address)] };
    assertRefused(scene, "a lamport below", { ...one, why: "NOTHING" });
    world.must([operator], [buildReclaim(rich)]);
    assert.equal(world.exists(rich.address), false);
    // A griefer pays more than the rent that he keeps from returning.
    const blocked = scene.paid(5_000_000n);
    const rent = world.lamports(blocked.tokenAccount);
    send(blocked.tokenAccount, lamportsRentEnd - rent - 1n);
    world.must([stranger], [buildSettle([blocked])]);
    send(blocked.tokenAccount, 1n);
    world.must([operator], [buildSettle([blocked], { rentRecipient: true })]);
    assert.ok(world.exists(blocked.tokenAccount) && lamportsRentEnd - rent > rent);
    world.setTime(RECOVER_AFTER);
    world.must([recoverer], [buildRescue(blocked, { destination: scene.payoutAccount, lamportsTo: stranger.address })]);
    assert.equal(world.exists(associated(blocked.address, scene.mint)), false);
  });
