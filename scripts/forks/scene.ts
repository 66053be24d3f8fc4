import { computeInboxAddress } from "@tributary/inbox/address";
import { hubAddress, hubSalt } from "@tributary/inbox/hub";
import { hubAbi } from "@tributary/inbox/hubAbi";
import { hubCreationCode } from "@tributary/inbox/hubCode";
import { settleItemGas } from "@tributary/inbox/hubs";
import { zeroBytes32, type Hex, type Terms } from "@tributary/inbox/terms";
import { encodeFunctionData, keccak256, stringToHex } from "viem";
import { DEV_ACCOUNTS, FUNDED_ROLES } from "../../src/dev/devAccounts.ts";
import { deploymentCall } from "../../src/dev/chains/contracts.ts";
import { fiatTokenAbi, mintCall, planTokenSetup, transferCall } from "../../src/dev/chains/tokens.ts";
import { ForkChain, type Fork, type Sent } from "./evm.ts";

// The published hub and the issuer's token code on a chain under the rules of one fork.

export const DEPOSIT_UNITS = 100_000_000n;
const FEE_BPS = 50;
const BPS = 10_000n;
const RECOVER_AFTER_S = 4_000_000_000;

export type Scene = {
  chain: ForkChain;
  token: Hex;
  /** The most gas that a transaction may have. */
  gasMax: bigint;
  /** What the hub's deployment took. */
  hubGas: bigint;
  terms: (name: string) => Terms;
  /** Gives an inbox the usual deposit. */
  fund(terms: Terms): Promise<void>;
  balanceOf(owner: Hex): Promise<bigint>;
  inboxBalance(terms: Terms): Promise<bigint>;
  settle(items: readonly Terms[], gasLimit?: bigint): Promise<Sent>;
};

const { issuer, payer, operator, payoutFirst: payout, feeRecipient } = DEV_ACCOUNTS;

export async function openScene(fork: Fork): Promise<Scene> {
  const chain = await ForkChain.open(
    fork,
    FUNDED_ROLES.map((role) => DEV_ACCOUNTS[role]),
  );
  const usdc = { name: "USD Coin", symbol: "USDC", currency: "USD", decimals: 6 };
  const { address: token, calls } = planTokenSetup(chain.chainId, issuer.address, usdc);
  // Under new rules, code costs more gas than the calls of a local chain allow.
  const withGas = calls.map((call) => ({ ...call, gasLimit: GAS_MAX[fork] }));
  await chain.sendAll(issuer, withGas);
  const hub = deploymentCall({ creationCode: hubCreationCode, salt: hubSalt });
  const [deployed] = await chain.sendAll(issuer, [{ ...hub, gasLimit: GAS_MAX[fork] }]);
  if (!(await chain.hasCode(hubAddress))) throw new Error("the hub is not at its address");
  // Payout and fee recipient hold the token already, as merchants do after their first settlement.
  const holders = [payer.address, payout.address, feeRecipient.address];
  await chain.sendAll(
    issuer,
    holders.map((holder) => mintCall(token, holder, DEPOSIT_UNITS * 100_000n)),
  );
  const balanceOf = async (owner: Hex) =>
    BigInt(
      await chain.read(token, encodeFunctionData({ abi: fiatTokenAbi, functionName: "balanceOf", args: [owner] })),
    );
  return {
    chain,
    token,
    gasMax: GAS_MAX[fork],
    hubGas: deployed?.gas ?? 0n,
    balanceOf,
    inboxBalance: (terms) => balanceOf(computeInboxAddress(terms)),
    terms: (name) => ({
      salt: keccak256(stringToHex(name)),
      settleChainId: BigInt(chain.chainId),
      settleToken: token,
      payout: payout.address,
      feeRecipient: feeRecipient.address,
      feeBps: FEE_BPS,
      recovery: payout.address,
      recoverAfter: RECOVER_AFTER_S,
      routesRoot: zeroBytes32,
    }),
    async fund(terms) {
      await chain.sendAll(payer, [transferCall(token, computeInboxAddress(terms), DEPOSIT_UNITS)]);
    },
    settle: (items, gasLimit) =>
      chain.send(operator, { to: hubAddress, data: settleData(items), ...(gasLimit && { gasLimit }) }),
  };
}

/** Under the new rules a transaction may have more gas than the limit of today, for the state that it creates. */
const GAS_MAX: Readonly<Record<Fork, bigint>> = { osaka: 16_777_216n, amsterdam: 60_000_000n };

export function settleData(items: readonly Terms[]): Hex {
  const [first] = items;
  if (first === undefined) throw new Error("nothing to settle");
  if (items.length === 1) return encodeFunctionData({ abi: hubAbi, functionName: "settle", args: [first] });
  return encodeFunctionData({
    abi: hubAbi,
    functionName: "settleNetted",
    args: [first, items.map(({ salt }) => salt), settleItemGas],
  });
}

/** The fee of the usual deposit. */
export const FEE_UNITS = (DEPOSIT_UNITS * BigInt(FEE_BPS)) / BPS;
