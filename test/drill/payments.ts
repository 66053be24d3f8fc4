import type { SolanaInbox } from "@tributary/inbox/solana/address";
import type { Hex } from "@tributary/inbox/terms";
import { encodeFunctionData, parseAbi } from "viem";
import { DEV_ACCOUNTS } from "../../src/dev/devAccounts.ts";
import {
  createAssociated,
  createAuxiliary,
  associated,
  fund,
  sendLamports,
  transferTokens,
} from "../../programs/test/support/tokens.ts";
import { renderCli } from "../support/cli.ts";
import type { TestChain } from "../support/chain.ts";
import { sendCoin, sendFalseTransfers, type CreateResponse, type EvmWorld } from "./evmWorld.ts";
import { toRecipient, toResponse, type SolanaWorld } from "./solanaWorld.ts";

// The odd ways in which the drill is paid, after the service is gone.

/** What is counted together: a token that crosses keeps its asset. */
export type Asset = "USDC" | "DUSD" | "coin" | "SOL" | "other mint";

export type Payment = {
  readonly way: string;
  readonly asset: Asset;
  readonly units: bigint;
  /** What is still where it was paid, or was burned there and not received. */
  left(): Promise<bigint>;
  /** The response that a merchant kept. */
  readonly response: object;
};

const USDC = 1_000_000n;
const COIN = 10n ** 18n;
const FALSE_TRANSFERS = 250;
const transmitterAbi = parseAbi(["function receiveMessage(bytes message, bytes attestation)"]);

export type DrillWorld = { evm: EvmWorld; solana: SolanaWorld; attestationUrl: string; bridgesFile: string };

type Token = "usdc" | "dusd" | "coin";
type Way = { way: string; asset: Asset; units: bigint; chain: TestChain; act?: (inbox: Hex) => Promise<void> };

/** Pays each way into an inbox of its own. `responses`: those of the creates, taken in order. */
export async function payOnEvm(world: DrillWorld, responses: readonly CreateResponse[]): Promise<Payment[]> {
  const { evm } = world;
  const { home, origin, far } = evm;
  const onHome = { chain: home };
  const onOrigin = { chain: origin };
  const ways: Way[] = [
    { way: "the price, in the payout token", asset: "USDC", units: 25n * USDC, ...onHome },
    { way: "one unit", asset: "USDC", units: 1n, ...onHome },
    {
      way: "a second payer of the same inbox",
      asset: "USDC",
      units: 7n * USDC,
      ...onHome,
      act: (inbox) => pay(home, inbox, { token: "usdc", units: 3n * USDC }),
    },
    { way: "another token", asset: "DUSD", units: 2n * COIN, ...onHome },
    {
      way: `another token, behind ${FALSE_TRANSFERS} false transfers`,
      asset: "DUSD",
      units: 3n * COIN,
      ...onHome,
      act: (inbox) => sendFalseTransfers(home, inbox, FALSE_TRANSFERS),
    },
    { way: "the chain's coin", asset: "coin", units: COIN / 2n, ...onHome },
    { way: "USDC on another chain", asset: "USDC", units: 11n * USDC, ...onOrigin },
    {
      way: "USDC on another chain, its routes known from another intent",
      asset: "USDC",
      units: 12n * USDC,
      ...onOrigin,
    },
    {
      way: "bridged by a stranger, not received",
      asset: "USDC",
      units: 13n * USDC,
      ...onOrigin,
      act: () => bridgeAsStranger(world, responses, 8).then(() => undefined),
    },
    {
      way: "bridged and received by a stranger, not settled",
      asset: "USDC",
      units: 14n * USDC,
      ...onOrigin,
      act: () => receiveAsStranger(world, responses, 9),
    },
    { way: "USDC on another chain, below the minimum", asset: "USDC", units: 1n, ...onOrigin },
    { way: "another token on another chain", asset: "DUSD", units: 4n * COIN, ...onOrigin },
    { way: "the coin of another chain", asset: "coin", units: COIN / 4n, ...onOrigin },
    {
      way: "USDC on a chain that the service never knew, without the hub",
      asset: "USDC",
      units: 15n * USDC,
      chain: far,
    },
    { way: "the coin of that chain", asset: "coin", units: COIN / 8n, chain: far },
    { way: "the payout token, its issuer blocks the payout wallet", asset: "USDC", units: 16n * USDC, ...onHome },
  ];
  const paid: Payment[] = [];
  for (const [index, { way, asset, units, chain, act }] of ways.entries()) {
    const response = responses[index];
    if (response === undefined) throw new Error("too few intents were created");
    const inbox = response.inboxAddress;
    const token = asset === "coin" ? "coin" : asset === "USDC" ? "usdc" : "dusd";
    const first = way.startsWith("a second payer") ? units - 3n * USDC : units;
    await pay(chain, inbox, { token, units: first });
    await act?.(inbox);
    paid.push({ way: `EVM: ${way}`, asset, units, response, left: () => leftOf(world, { token, inbox }) });
  }
  return paid;
}

export const EVM_WAYS = 16;
/** Its response is kept as a list shows it: with the root of its routes alone. */
export const ROOT_ONLY = 7;
/** The issuer blocks the payout wallet of this one. */
export const BLOCKED = 15;

type Transfer = { token: Token; units: bigint };

function pay(chain: TestChain, inbox: Hex, { token, units }: Transfer): Promise<void> {
  if (token === "coin") return sendCoin(chain, inbox, units);
  return chain.pay(chain[token].address, inbox, { amountUnits: units }).then(() => undefined);
}

async function leftOf({ evm }: DrillWorld, { token, inbox }: { token: Token; inbox: Hex }): Promise<bigint> {
  const balances = await Promise.all(
    [evm.home, evm.origin, evm.far].map((chain) =>
      token === "coin" ? chain.client.getBalance({ address: inbox }) : chain.balanceOf(chain[token].address, inbox),
    ),
  );
  return balances.reduce((sum, units) => sum + units, 0n);
}

async function bridgeAsStranger(world: DrillWorld, responses: readonly CreateResponse[], index: number): Promise<Hex> {
  const { origin } = world.evm;
  const file = `${world.bridgesFile}.stranger.json`;
  await writeJson(file, responses[index]);
  const run = await renderCli(
    ["recover", file, "--rpc", origin.rpcUrl, "--bridge", "--bridges", world.bridgesFile, "--json"],
    { TRIBUTARY_RECOVER_KEY: DEV_ACCOUNTS.stranger.privateKey },
  );
  const [{ acts }] = JSON.parse(run.out) as [{ acts: { what: string; txHash: Hex }[] }];
  const burn = acts.find(({ what }) => what === "bridge");
  if (burn === undefined) throw new Error(`the stranger bridged nothing: ${run.err}`);
  await origin.finalize();
  return burn.txHash;
}

async function receiveAsStranger(
  world: DrillWorld,
  responses: readonly CreateResponse[],
  index: number,
): Promise<void> {
  const { home, road } = world.evm;
  const burn = await bridgeAsStranger(world, responses, index);
  const answered = await fetch(`${world.attestationUrl}/v2/messages/1?transactionHash=${burn}`);
  const { messages } = (await answered.json()) as { messages: [{ message: Hex; attestation: Hex }] };
  const { message, attestation } = messages[0];
  const to = road.sides[0]?.bridge.transmitter ?? "0x";
  const data = encodeFunctionData({
    abi: transmitterAbi,
    functionName: "receiveMessage",
    args: [message, attestation],
  });
  const [receipt] = await home.send(DEV_ACCOUNTS.payer, [{ to, data }]);
  if (receipt?.status !== "success") throw new Error("the stranger received nothing");
}

async function writeJson(file: string, value: unknown): Promise<void> {
  const { writeFile } = await import("node:fs/promises");
  await writeFile(file, JSON.stringify(value));
}

/** Pays inboxes on Solana. One of them is paid out on the EVM chain, to the inbox of `crossing`. */
export function payOnSolana({ solana }: DrillWorld, crossing: CreateResponse, homeDomain: number): Payment[] {
  const { scene } = solana;
  const { world, mint, otherMint, payer, operator, payerAccount } = scene;
  const hop = { mintRecipient: toRecipient(crossing.inboxAddress), domain: homeDomain };
  const units = (account: string) => async () => world.units(account);
  const named = (inbox: SolanaInbox, id: string) => toResponse(inbox, `pi_solana_${id}`);
  const price = scene.paid(5n * USDC);
  const wrong = scene.pay();
  const wrongAccount = fund(world, operator, { owner: wrong.address, mint: otherMint, units: 6n * USDC });
  const nested = scene.pay();
  const transfer = { from: payerAccount, mint, owner: payer.address };
  world.must(
    [payer],
    [
      createAssociated(payer, nested.tokenAccount, { mint }),
      transferTokens({ ...transfer, to: associated(nested.tokenAccount, mint), units: 8n * USDC }),
    ],
  );
  const extra = scene.pay();
  const extraAccount = createAuxiliary(world, payer, { owner: extra.address, mint });
  world.must([payer], [transferTokens({ ...transfer, to: extraAccount, units: 9n * USDC })]);
  const coins = scene.pay();
  world.must([payer], [sendLamports(payer, coins.address, 5_000_000n)]);
  const crossed = scene.paidHop(10n * USDC, hop);
  const small = scene.paidHop(USDC / 2n, hop);
  const late = scene.paid(4n * USDC, { payout: scene.stranger.address });
  return [
    {
      way: "Solana: the price",
      asset: "USDC",
      units: 5n * USDC,
      left: units(price.tokenAccount),
      response: named(price, "price"),
    },
    {
      way: "Solana: another mint",
      asset: "other mint",
      units: 6n * USDC,
      left: units(wrongAccount),
      response: named(wrong, "wrong"),
    },
    {
      way: "Solana: to the token account, as if it were a wallet",
      asset: "USDC",
      units: 8n * USDC,
      left: units(associated(nested.tokenAccount, mint)),
      response: named(nested, "nested"),
    },
    {
      way: "Solana: into a second token account",
      asset: "USDC",
      units: 9n * USDC,
      left: units(extraAccount),
      response: named(extra, "extra"),
    },
    {
      way: "Solana: coins",
      asset: "SOL",
      units: 5_000_000n,
      left: async () => world.lamports(coins.address),
      response: named(coins, "coins"),
    },
    {
      way: "Solana: a payout wallet without a token account",
      asset: "USDC",
      units: 4n * USDC,
      left: units(late.tokenAccount),
      response: named(late, "late"),
    },
    {
      way: "Solana to EVM: bridged and received",
      asset: "USDC",
      units: 10n * USDC,
      left: units(crossed.tokenAccount),
      response: named(crossed, "crossed"),
    },
    {
      way: "Solana to EVM: below the bridge's minimum",
      asset: "USDC",
      units: USDC / 2n,
      left: units(small.tokenAccount),
      response: named(small, "small"),
    },
  ];
}
