import assert from "node:assert/strict";
import { test } from "node:test";
import { publishedContracts } from "@tributary/inbox/publishedContracts";
import { getAddress } from "viem";
import {
  assertFault,
  TWO_DECIMAL_TOKEN,
  DUSD,
  OTHER_CHAIN_ID,
  testApi,
  USDC,
  type Merchant,
} from "../../support/api.ts";
import { CLUSTER, remoteGateApi, MINT, SOLANA_WALLET } from "../../support/remoteGateApi.ts";

// Every kind of forbidden payout address, and allowed addresses next to them.

const URL = "/api/v1/intents";
const numbered = (value: number) => `0x${value.toString(16).padStart(40, "0")}`;
const toUpperHex = (address: string) => `0x${address.slice(2).toUpperCase()}`;
/** A checksum with letters in both cases. */
const CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const PLAIN = CHECKSUMMED.toLowerCase();
const SOLANA = { payoutNamespace: "solana", payoutChainReference: CLUSTER };

/** Addresses that would lose the money or return it to an inbox permanently. */
const TRAP_ADDRESSES = [
  ...Array.from({ length: 0x12 }, (_, value) => numbered(value)),
  numbered(0x100),
  ...[...publishedContracts, USDC, DUSD, TWO_DECIMAL_TOKEN].flatMap((address) => [
    address,
    toUpperHex(address),
    getAddress(address),
  ]),
];

const MALFORMED = [
  "",
  " ",
  "0x",
  "0",
  PLAIN.slice(2),
  PLAIN.slice(0, -1),
  `${PLAIN}0`,
  `${PLAIN}00`,
  ` ${PLAIN}`,
  `${PLAIN} `,
  `${PLAIN}\\n`,
  `0X${PLAIN.slice(2)}`,
  `0x${PLAIN}`,
  `x0${PLAIN.slice(2)}`,
  PLAIN.replace("a", "g"),
  // Cyrillic look-alikes.
  PLAIN.replace("a", "\\u0430"),
  PLAIN.replace("0x", "0\\u0445"),
  PLAIN.replace("5", "\\u0665"),
  // A full-width letter and a zero-width space.
  PLAIN.replace("a", "\\uff41"),
  PLAIN.replace("a", "a\\u200b"),
  `${PLAIN.slice(0, 20)}…${PLAIN.slice(-4)}`,
  CHECKSUMMED.replace("aAeb", "AAeb"),
  CHECKSUMMED.replace("BeAed", "BeAeD"),
  CHECKSUMMED.replace("94C9", "94c9"),
  `eip155:1:${CHECKSUMMED}`,
  `ethereum:${CHECKSUMMED}`,
  "vitalik.eth",
  `XE${PLAIN.slice(2)}`,
  "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8",
  SOLANA_WALLET,
];

async function assertRefused(merchant: Merchant, body: object, code: string): Promise<void> {
  const error = assertFault(await merchant.post(URL, body), 400, code);
  assert.equal(error.param, "payoutWallet", JSON.stringify(body));
}

/** Changes the account regularly to stay below the rate limit. */
async function assertAllRefused(open: () => Promise<Merchant>, bodies: readonly object[], code: string): Promise<void> {
  let merchant = await open();
  for (const [index, body] of bodies.entries()) {
    if (index % 25 === 24) merchant = await open();
    await assertRefused(merchant, body, code);
  }
}

test("D11 an EVM wallet that would lose the money is refused in every spelling", async () => {
  const api = await testApi();
  const bodies = TRAP_ADDRESSES.map((payoutWallet) => ({ payoutWallet }));
  await assertAllRefused(() => api.openMerchant(), bodies, "unsupported_destination");
});

test("D11 a malformed EVM address is invalid", async () => {
  const api = await testApi();
  const bodies = MALFORMED.map((text) => ({ payoutWallet: JSON.parse(`"${text}"`) as unknown }));
  await assertAllRefused(() => api.openMerchant(), bodies, "invalid_request");
});

test("D11 an inbox of any merchant is refused as a wallet, on every chain and in every spelling", async () => {
  const api = await testApi();
  const [merchant, stranger] = [await api.openMerchant(), await api.openMerchant()];
  for (const { inboxAddress } of [await merchant.createIntent(), await stranger.createIntent()]) {
    for (const payoutWallet of [inboxAddress, inboxAddress.toLowerCase(), toUpperHex(inboxAddress)]) {
      await assertRefused(merchant, { payoutWallet }, "unsupported_destination");
      const elsewhere = { payoutWallet, payoutChainReference: OTHER_CHAIN_ID };
      await assertRefused(merchant, elsewhere, "unsupported_destination");
    }
  }
});

test("D11 addresses next to forbidden ones are accepted and shown with their checksum", async () => {
  const merchant = await (await testApi()).openMerchant();
  for (const wallet of [numbered(0x12), numbered(0xff), numbered(0x101), PLAIN, CHECKSUMMED, toUpperHex(PLAIN)]) {
    const { payout } = await merchant.createIntent({ payoutWallet: wallet });
    assert.equal(payout.wallet, getAddress(wallet.toLowerCase()));
  }
});

test("D11 a Solana wallet is 32 bytes of base58 on the curve and not a mint", async () => {
  const { api } = await remoteGateApi();
  const malformed = [
    "",
    "1",
    `${SOLANA_WALLET} `,
    `${SOLANA_WALLET}1`,
    SOLANA_WALLET.slice(2),
    PLAIN,
    "0OIl".repeat(11),
  ];
  const unpayable = [
    MINT,
    "1".repeat(32),
    "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
    "So11111111111111111111111111111111111111112",
    // A token account.
    "DShWnroshVbeUp28oopA3Pu7oFPDBtC1DBmPECXXAQ9n",
  ];
  const bodies = (texts: string[]) => texts.map((payoutWallet) => ({ ...SOLANA, payoutWallet }));
  await assertAllRefused(() => api.openMerchant(), bodies(malformed), "invalid_request");
  await assertAllRefused(() => api.openMerchant(), bodies(unpayable), "unsupported_destination");
  const merchant = await api.openMerchant();
  const { payout } = await merchant.createIntent({ ...SOLANA, payoutWallet: SOLANA_WALLET });
  assert.equal(payout.wallet, SOLANA_WALLET, "byte for byte");
  // A changed letter case is a different address or an invalid one.
  const swapped = SOLANA_WALLET.replace("b", "B");
  assert.equal((await merchant.post(URL, { ...SOLANA, payoutWallet: swapped })).body.created ?? true, true);
});
