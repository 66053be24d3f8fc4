/**
 * The drill: the service is gone for good, and everything that was paid in two dozen odd ways is taken out with the
 * responses of the creates, keys and public nodes that ration their requests. `npm run drill` does it by the command,
 * `npm run drill -- --page` by recover.html. It prints each way before and after; it exits with 1 unless every unit is
 * accounted for.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import { solanaCctpDomain } from "@tributary/inbox/cctpV2Chains";
import { associated } from "../../programs/test/support/tokens.ts";
import type { TestChain } from "../support/chain.ts";
import { temporaryFolder } from "../support/cli.ts";
import {
  BLOCKED,
  EVM_WAYS,
  payOnEvm,
  payOnSolana,
  ROOT_ONLY,
  type Asset,
  type DrillWorld,
  type Payment,
} from "./payments.ts";
import { linkSolana, openEvmWorld, type CreateResponse } from "./evmWorld.ts";
import { printTable } from "./printTable.ts";
import { RECEIVER_OF_COINS, recoverAll } from "./recoverAll.ts";
import { recoverByPage } from "./recoverByPage.ts";
import { openSolanaAttestation, openSolanaWorld, solanaMessenger, toKeyHex } from "./solanaWorld.ts";

const HOME_DOMAIN = 0;
const folder = temporaryFolder();
const startedMs = performance.now();

const evm = await openEvmWorld();
const { messenger } = evm.road.sides[HOME_DOMAIN]?.bridge ?? assert.fail("the payout's chain has no bridge");
const solana = await openSolanaWorld({ domain: HOME_DOMAIN, messenger });
const attestation = await openSolanaAttestation(solana.scene, evm.road.attestation.url);
await linkSolana(evm, {
  domain: solanaCctpDomain,
  mint: toKeyHex(solana.scene.mint),
  messenger: solanaMessenger,
});
const bridgesFile = join(folder.path, "bridges.json");
writeFileSync(
  bridgesFile,
  JSON.stringify(
    evm.road.sides.map(({ chainId, token, bridge: { domain, messenger, transmitter } }) => {
      return { chainId, domain, messenger, transmitter, usdc: token };
    }),
  ),
);
const world: DrillWorld = { evm, solana, attestationUrl: attestation.url, bridgesFile };

const responses: CreateResponse[] = [];
for (let count = 0; count <= EVM_WAYS; count += 1) responses.push(await evm.create(count === BLOCKED));
await evm.endService();
print(`The service is gone. ${responses.length} responses of its creates are left.`);

await evm.home.blocklist(evm.home.usdc.address, DEV_ACCOUNTS.payoutSecond.address);
const before = await readHeld(world);
const crossing = responses[EVM_WAYS] ?? assert.fail("no intent for the crossing");
const payments = [...(await payOnEvm(world, responses)), ...payOnSolana(world, crossing, HOME_DOMAIN)];
const kept = [
  ...payments.map(({ response }, index) => (index === ROOT_ONLY ? withoutRoutes(response) : response)),
  crossing,
];
const paid = new Map<Payment, bigint>();
for (const payment of payments) paid.set(payment, await payment.left());
writeFileSync(join(folder.path, "kept.json"), JSON.stringify(kept));
print(`${payments.length} payments in ${payments.length} odd ways.`);

const recoverAfter = responses[0]?.inboxTerms.recoverAfter ?? 0;
const isByPage = process.argv.includes("--page");
await (isByPage ? recoverByPage : recoverAll)(world, {
  folder: folder.path,
  file: join(folder.path, "kept.json"),
  recoverAfter,
  print,
});

let isComplete = await printTable(payments, paid, print);
const after = await readHeld(world);
for (const asset of ["USDC", "DUSD", "coin", "SOL", "other mint"] as const) {
  const given = payments.filter((each) => each.asset === asset).reduce((sum, { units }) => sum + units, 0n);
  const taken = after[asset] - before[asset];
  print(`${asset.padEnd(12)} paid ${given}, arrived ${taken}${given === taken ? "" : "  <- DIFFERS"}`);
  isComplete &&= given === taken;
}
const { answered, refused } = sumRequests();
print(`${answered} requests were answered and ${refused} refused as too many.`);
print(
  `${isComplete ? "Every unit is accounted for" : "UNITS ARE MISSING"}, in ${Math.round((performance.now() - startedMs) / 1_000)} s.`,
);
folder.remove();
process.exit(isComplete ? 0 : 1);

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A saved page of the list shows the root of the routes only. */
function withoutRoutes(response: object): object {
  const { inboxTerms, ...rest } = response as { inboxTerms: object };
  const { routes: _, ...terms } = inboxTerms as { routes?: unknown };
  return { ...rest, inboxTerms: terms };
}

function sumRequests(): { answered: number; refused: number } {
  const nodes = Object.values(evm.nodes);
  const sum = (field: "answered" | "refused") => nodes.reduce((total, node) => total + node[field], 0);
  return { answered: sum("answered"), refused: sum("refused") };
}

/** What the merchant, the operator's fee wallets and the bridge hold, by asset. */
async function readHeld({ evm: { home, origin, far }, solana: { scene } }: DrillWorld): Promise<Record<Asset, bigint>> {
  const { payoutFirst, recoverySecond, feeRecipient, attester } = DEV_ACCOUNTS;
  const owners = [payoutFirst, recoverySecond, feeRecipient, attester].map(({ address }) => address);
  const sumOf = async (read: (chain: TestChain, owner: `0x${string}`) => Promise<bigint>) => {
    const balances = await Promise.all(
      [home, origin, far].flatMap((chain) => owners.map((owner) => read(chain, owner))),
    );
    return balances.reduce((sum, units) => sum + units, 0n);
  };
  const { world: runtime, mint, otherMint, payoutAccount, feeAccount, stranger, recoverer } = scene;
  const onSolana = [payoutAccount, feeAccount, associated(stranger.address, mint), associated(recoverer.address, mint)];
  return {
    USDC:
      (await sumOf((chain, owner) => chain.balanceOf(chain.usdc.address, owner))) +
      onSolana.reduce((sum, account) => sum + runtime.units(account), 0n),
    DUSD: await sumOf((chain, owner) => chain.balanceOf(chain.dusd.address, owner)),
    // The recovery address pays for gas itself, so coins are sent to another wallet.
    coin: (
      await Promise.all([home, origin, far].map(({ client }) => client.getBalance({ address: recoverySecond.address })))
    ).reduce((sum, units) => sum + units, 0n),
    SOL: runtime.lamports(RECEIVER_OF_COINS),
    "other mint": runtime.units(associated(recoverer.address, otherMint)),
  };
}
