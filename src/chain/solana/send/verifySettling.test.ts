import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { programDataAddress } from "../inboxProgram.ts";
import { decodeKey } from "@tributary/inbox/solana/keys";
import { pino } from "pino";
import { LOCAL_INBOX_PROGRAM, LOCAL_MINTS, SOLANA_ACCOUNTS } from "../../../../packages/local-solana/src/fixtures.ts";
import { findTokenAccount } from "../../../../packages/local-solana/src/instructions.ts";
import type { Db } from "../../../db/database.ts";
import { openTestDatabase, thoroughDatabase } from "../../../../test/support/database.ts";
import { openSenderScene, type SenderScene } from "../../../../test/support/solanaSender.ts";
import { ChainMismatch } from "../../providers.ts";
import { verifySettling, type MintConfig } from "./verifySettling.ts";

const { USDC, EURC, DUSD } = LOCAL_MINTS;
const { feeRecipient, operator, stranger } = SOLANA_ACCOUNTS;
const feeAccount = findTokenAccount({ owner: feeRecipient.address, mint: USDC.address });
const EXTENSIONS = 166;

let db: Db;
before(async () => {
  db = await openTestDatabase(thoroughDatabase);
});
after(() => db.close());

const openScene = () => openSenderScene({ db, log: pino({ level: "silent" }) });
const toToken = ({ symbol, address, decimals, program: tokenProgram }: typeof USDC): MintConfig => ({
  symbol,
  address,
  decimals,
  tokenProgram,
  isRail: true,
});
const verify = ({ context }: SenderScene, ...tokens: MintConfig[]) =>
  verifySettling(context, { name: "Local", tokens });
const edit = ({ solana: { control } }: SenderScene, address: string, change: (data: Buffer) => Buffer) => {
  const account = control.account(address);
  assert.ok(account);
  control.setAccount(address, { owner: account.owner, data: change(Buffer.from(account.data)) });
  control.finalize();
  control.nextSlot();
};
const rejects = (promise: Promise<void>, message: RegExp) =>
  assert.rejects(promise, (error) => error instanceof ChainMismatch && message.test(error.message));
/** The data of a mint with these extensions, of four bytes each. */
const withExtensions = (mint: Buffer, ...types: number[]) => {
  const data = Buffer.alloc(EXTENSIONS + types.length * 8);
  mint.copy(data, 0, 0, 82);
  data.writeUInt8(1, EXTENSIONS - 1);
  types.forEach((type, index) => {
    data.writeUInt16LE(type, EXTENSIONS + index * 8);
    data.writeUInt16LE(4, EXTENSIONS + index * 8 + 2);
  });
  return data;
};

test("the local chain has everything that settling needs", async () => {
  await verify(await openScene(), toToken(USDC), { ...toToken(DUSD), isRail: false });
});

test("a mint must exist with the configured program, decimals and no other extensions than describing ones", async () => {
  const scene = await openScene();
  const usdc = toToken(USDC);
  await rejects(verify(scene, { ...usdc, address: feeAccount }), /^Local: USDC at \w+ is no mint\.$/);
  await rejects(verify(scene, { ...usdc, address: LOCAL_MINTS.USDT.address.slice(0, -1) + "1" }), /does not exist\.$/);
  await rejects(verify(scene, { ...usdc, decimals: 2 }), /has 6 decimals, and 2 are configured\.$/);
  await rejects(
    verify(scene, { ...usdc, tokenProgram: DUSD.program }),
    /belongs to the SPL Token program, and the Token-2022 program is configured\.$/,
  );
  const dusd = { ...toToken(DUSD), isRail: false };
  edit(scene, DUSD.address, (data) => withExtensions(data, 18, 19, 20));
  await verify(scene, dusd);
  edit(scene, DUSD.address, (data) => withExtensions(data, 18, 1, 12, 26, 99));
  await rejects(
    verify(scene, dusd),
    /has extensions that are not accepted: transferFee, permanentDelegate, pausable, extension 99\.$/,
  );
  const accepting: MintConfig = { ...dusd, acceptedExtensions: ["permanentDelegate", "pausable"] };
  await rejects(verify(scene, accepting), /not accepted: transferFee, extension 99\.$/);
  edit(scene, DUSD.address, (data) => withExtensions(data, 12, 26));
  await verify(scene, accepting);
});

test("the fee wallet must own a usable token account of every rail", async () => {
  const scene = await openScene();
  scene.solana.control.setAccount(findTokenAccount({ owner: feeRecipient.address, mint: EURC.address }), undefined);
  scene.solana.control.finalize();
  scene.solana.control.nextSlot();
  await rejects(
    verify(scene, toToken(USDC), toToken(EURC)),
    /^Local: the fee wallet \w+ has no token account of it \(\w+\), so that every fee in EURC would be lost\.$/,
  );
  scene.solana.control.setFrozen(feeAccount, true);
  scene.solana.control.finalize();
  scene.solana.control.nextSlot();
  await rejects(verify(scene, toToken(USDC)), /has a frozen token account/);
  scene.solana.control.setFrozen(feeAccount, false);
  edit(scene, feeAccount, (data) => {
    data.set(decodeKey("owner", stranger.address), 32);
    return data;
  });
  await rejects(verify(scene, toToken(USDC)), new RegExp(`belongs to ${stranger.address} `));
  edit(scene, feeAccount, (data) => {
    data.set(decodeKey("owner", feeRecipient.address), 32);
    data.set(decodeKey("mint", EURC.address), 0);
    return data;
  });
  await rejects(verify(scene, toToken(USDC)), /has no token account of it/);
});

test("a fee account that asks for memos loses every fee", async () => {
  const scene = await openScene();
  const account = findTokenAccount({ owner: feeRecipient.address, mint: DUSD.address, program: DUSD.program });
  scene.solana.control.mintTokens({ mint: DUSD.address, owner: feeRecipient.address, units: 1n });
  scene.solana.control.finalize();
  scene.solana.control.nextSlot();
  await verify(scene, toToken(DUSD));
  edit(scene, account, (data) => {
    const extended = Buffer.alloc(175);
    data.copy(extended);
    extended.writeUInt8(2, 165);
    extended.writeUInt16LE(8, EXTENSIONS);
    extended.writeUInt16LE(1, EXTENSIONS + 2);
    extended.writeUInt8(1, EXTENSIONS + 4);
    return extended;
  });
  await rejects(verify(scene, toToken(DUSD)), /does not accept plain transfers/);
});

test("the inbox program must be this release's, and no key may change it", async () => {
  const scene = await openScene();
  const code = programDataAddress(LOCAL_INBOX_PROGRAM);
  edit(scene, code, (data) => {
    data.writeUInt8(1, 12);
    data.set(decodeKey("authority", operator.address), 13);
    return data;
  });
  await rejects(verify(scene), new RegExp(`^Local: the inbox program \\w+ can be changed by ${operator.address}\\.$`));
  edit(scene, code, (data) => {
    data.writeUInt8(0, 12);
    data.writeUInt8((data.at(-1) ?? 0) ^ 1, data.length - 1);
    return data;
  });
  await rejects(verify(scene), /has other code than this release\.$/);
});

test("the fee payer needs lamports", async () => {
  const scene = await openScene();
  scene.solana.control.setAccount(scene.payer.address, undefined);
  scene.solana.control.finalize();
  scene.solana.control.nextSlot();
  await rejects(
    verify(scene),
    new RegExp(`^Local: the fee payer ${scene.payer.address} has no lamports; send SOL to it\\.$`),
  );
});
