import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { getAddressDecoder, getAddressEncoder, getProgramDerivedAddress } from "@solana/kit";
import type { Address } from "@solana/kit";
import { keccak256, stringToHex } from "viem";
import type { Hex } from "viem";
import { findSolanaProgram } from "../src/solana/program.generated.ts";
import type { SolanaTerms } from "../src/solana/terms.ts";

// Writes solanaVectors.json with @solana/kit and Node's own hash alone, so that tests compare the package with
// independent code. The vectors are frozen: run it only when the published program changes, which changes every
// address.

const mainnet = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
const tokenProgram = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA" as Address;
const token2022Program = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb" as Address;
const associatedTokenProgram = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL" as Address;
const usdc = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const messenger = "CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe";
const nobody = "11111111111111111111111111111111";
const ones = keyOf(Buffer.alloc(32, 255));
const program = findSolanaProgram(mainnet) as Address;

const common = {
  salt: saltOf("usual"),
  mint: usdc,
  rentRecipient: keyOf(hash("rent recipient")),
  recovery: keyOf(hash("merchant")),
  recoverAfter: Date.UTC(2027, 5, 1) / 1000,
};
const pay: SolanaTerms = {
  ...common,
  kind: "pay",
  payout: keyOf(hash("merchant")),
  feeAccount: keyOf(hash("fee account")),
  feeBps: 50,
};
const hop: SolanaTerms = {
  ...common,
  kind: "hop",
  mintRecipient: `0x${"00".repeat(12)}${"ab".repeat(20)}`,
  messenger,
  minAmount: 1_000_000n,
  domain: 6,
  routes: [
    { feePpmMax: 3_000, finalityThreshold: 1_000 },
    { feePpmMax: 1_000, finalityThreshold: 2_000 },
  ],
};

const namedTerms: readonly (readonly [name: string, terms: SolanaTerms, token: Address])[] = [
  ["pay", pay, tokenProgram],
  ["pay, Token-2022", pay, token2022Program],
  ["pay, no fee and no recovery", { ...pay, feeAccount: nobody, feeBps: 0, recovery: nobody }, tokenProgram],
  [
    "pay, largest values",
    {
      kind: "pay",
      salt: `0x${"ff".repeat(32)}`,
      mint: ones,
      payout: ones,
      feeAccount: ones,
      rentRecipient: ones,
      recovery: ones,
      recoverAfter: 2 ** 48 - 1,
      feeBps: 1_000,
    },
    tokenProgram,
  ],
  ["hop", hop, tokenProgram],
  [
    "hop, standard route only",
    { ...hop, routes: [{ feePpmMax: 0, finalityThreshold: 0 }, hop.routes[1]] },
    tokenProgram,
  ],
  [
    "hop, largest values",
    {
      ...hop,
      salt: `0x${"ff".repeat(32)}`,
      mintRecipient: `0x${"ff".repeat(32)}`,
      recoverAfter: 2 ** 48 - 1,
      minAmount: 2n ** 64n - 1n,
      domain: 2 ** 32 - 1,
      routes: [
        { feePpmMax: 100_000, finalityThreshold: 2 ** 32 - 1 },
        { feePpmMax: 100_000, finalityThreshold: 2 ** 32 - 1 },
      ],
    },
    tokenProgram,
  ],
  ...Array.from(
    { length: 12 },
    (_, index) => ["pay, another salt", { ...pay, salt: saltOf(`salt ${index}`) }, tokenProgram] as const,
  ),
];

function hash(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function saltOf(text: string): Hex {
  return keccak256(stringToHex(text));
}

function keyOf(bytes: Uint8Array): string {
  return getAddressDecoder().decode(bytes);
}

function bytesOf(key: string): Buffer {
  return Buffer.from(getAddressEncoder().encode(key as Address));
}

function integer(value: number | bigint, bytes: number): Buffer {
  const whole = Buffer.alloc(8);
  whole.writeBigUInt64LE(BigInt(value));
  return whole.subarray(0, bytes);
}

function encode(terms: SolanaTerms): Buffer {
  const [payee, agent] =
    terms.kind === "pay"
      ? [bytesOf(terms.payout), bytesOf(terms.feeAccount)]
      : [Buffer.from(terms.mintRecipient.slice(2), "hex"), bytesOf(terms.messenger)];
  const keys = [bytesOf(terms.mint), payee, agent, bytesOf(terms.rentRecipient), bytesOf(terms.recovery)];
  const settings =
    terms.kind === "pay"
      ? [integer(terms.feeBps, 2)]
      : [
          integer(terms.minAmount, 8),
          integer(terms.domain, 4),
          ...terms.routes.flatMap((route) => [integer(route.feePpmMax, 4), integer(route.finalityThreshold, 4)]),
        ];
  return Buffer.concat([...keys, integer(terms.recoverAfter, 8), ...settings]);
}

async function derive([name, terms, token]: (typeof namedTerms)[number]) {
  const encoded = encode(terms);
  const termsHash = createHash("sha256").update(encoded).digest();
  const seeds = [`tributary.${terms.kind}.v1`, termsHash, Buffer.from(terms.salt.slice(2), "hex")];
  const [address, bump] = await getProgramDerivedAddress({ programAddress: program, seeds });
  const tokenSeeds = [address, token, terms.mint].map(bytesOf);
  const [tokenAccount] = await getProgramDerivedAddress({ programAddress: associatedTokenProgram, seeds: tokenSeeds });
  const hexOf = (bytes: Buffer): Hex => `0x${bytes.toString("hex")}`;
  return {
    name,
    terms,
    tokenProgram: token,
    encoded: hexOf(encoded),
    termsHash: hexOf(termsHash),
    address,
    bump,
    tokenAccount,
  };
}

const vectors = { program, inboxes: await Promise.all(namedTerms.map(derive)) };
const digits = (_: string, value: unknown) => (typeof value === "bigint" ? value.toString() : value);
await writeFile(new URL("../solanaVectors.json", import.meta.url), `${JSON.stringify(vectors, digits, 2)}\n`);
