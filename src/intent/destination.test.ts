import assert from "node:assert/strict";
import { test } from "node:test";
import { hubAddress } from "@tributary/inbox/hub";
import fc from "fast-check";
import { getAddress } from "viem";
import { buildCatalog } from "../catalog/catalog.ts";
import type { ChainConfig } from "../config/config.ts";
import { Fault } from "../kernel/faults.ts";
import type { AccountRow } from "../merchant/store.ts";
import { resolveDestination, type DestinationInput } from "./destination.ts";

const WALLET = "0x52908400098527886e0f7030069857d2e4169ee7";
const USDC = `0x${"c1".repeat(20)}`;
const DUSD = `0x${"d1".repeat(20)}`;
const token = (symbol: string, address: string) => ({
  symbol,
  slug: symbol.toLowerCase(),
  address,
  decimals: 6,
  minimumUnits: 0n,
  isOrigin: true,
  isRail: true,
});
const chain = (chainId: number, more: Partial<ChainConfig>): ChainConfig => ({
  caip2: `eip155:${chainId}`,
  chainId,
  name: `Chain ${chainId}`,
  slug: `c${chainId}`,
  rpcUrls: ["http://127.0.0.1:1"],
  publicRpcUrl: "http://127.0.0.1:1",
  explorerUrl: "http://127.0.0.1:1",
  native: { name: "Ether", symbol: "ETH", decimals: 18 },
  gasKey: "",
  pollMs: 1_000,
  finality: [],
  settleAfterMs: 0,
  settleBatchMax: 1,
  tokens: [token("USDC", USDC), token("DUSD", DUSD)],
  defaultToken: "DUSD",
  ...more,
});
const catalog = buildCatalog({
  chains: [chain(1, {}), chain(2, { defaultToken: undefined, tokens: [token("EURC", USDC)] })],
  defaultRail: "c1:usdc",
});
const account = (more: Partial<AccountRow> = {}): AccountRow => ({
  id: "acct_x",
  name: "X",
  environment: "test",
  status: "active",
  payout_namespace: "eip155",
  payout_chain_reference: "1",
  payout_wallet: WALLET,
  currency: "USDC",
  fee_bps: 0,
  underpay_tolerance_bps: 0,
  recovery: null,
  created_at: new Date(0),
  ...more,
});
const resolve = (input: DestinationInput, of = account()) => {
  const { namespace, chainReference, wallet, rail } = resolveDestination(catalog, of, input);
  return `${namespace} ${chainReference} ${wallet} ${rail.symbol}`;
};
const describeResult = (input: DestinationInput, of: AccountRow) => {
  try {
    return resolve(input, of);
  } catch (error) {
    return error instanceof Fault ? `${error.code} ${error.param}` : error;
  }
};
const assertRefused = (input: DestinationInput, code: string, of = account()) =>
  assert.throws(
    () => resolve(input, of),
    (error) => error instanceof Fault && error.code === code,
    JSON.stringify(input),
  );

test("§4.2.1 what is left out comes from the account, the token from its currency, else from the chain", () => {
  assert.equal(resolve({}), `eip155 1 ${WALLET} USDC`);
  assert.equal(resolve({}, account({ currency: null })), `eip155 1 ${WALLET} DUSD`);
  assert.equal(resolve({ payoutTokenAddress: DUSD.toUpperCase().replace("0X", "0x") }), `eip155 1 ${WALLET} DUSD`);
});

test("D11 a chain alone inherits the wallet; a token that cannot be inherited has to be named", () => {
  assertRefused({ payoutChainReference: "2" }, "token_required");
  assert.equal(resolve({ payoutChainReference: "2", payoutTokenAddress: USDC }), `eip155 2 ${WALLET} EURC`);
});

test("D11 an account without defaults needs a destination, another namespace a wallet", () => {
  const bare = account({ payout_namespace: null, payout_chain_reference: null, payout_wallet: null });
  assertRefused({}, "destination_required", bare);
  assertRefused({ payoutNamespace: "solana", payoutChainReference: "mainnet" }, "wallet_required");
  assertRefused({ payoutNamespace: "solana" }, "wallet_required");
});

test("D11 each part is inherited alone, or its lack is told by the name of the part", () => {
  const bare = account({ payout_namespace: null, payout_chain_reference: null, payout_wallet: null, currency: null });
  const onSolana = account({ payout_namespace: "solana", payout_chain_reference: "mainnet", payout_wallet: "x" });
  const [eip155, reference, wallet] = ["eip155", "1", `0x${"ab".repeat(20)}`];
  const table: [DestinationInput, AccountRow, string][] = [
    [{ payoutNamespace: eip155 }, account(), `eip155 1 ${WALLET} USDC`],
    [{ payoutChainReference: reference }, account(), `eip155 1 ${WALLET} USDC`],
    [{ payoutWallet: wallet }, account(), `eip155 1 ${wallet} USDC`],
    [{ payoutTokenAddress: DUSD }, account(), `eip155 1 ${WALLET} DUSD`],
    [{ payoutWallet: wallet }, account({ currency: "GBPX" }), `eip155 1 ${wallet} DUSD`],
    [
      { payoutNamespace: eip155, payoutChainReference: reference, payoutWallet: wallet },
      bare,
      `eip155 1 ${wallet} DUSD`,
    ],
    [
      { payoutNamespace: eip155, payoutChainReference: reference, payoutWallet: wallet },
      onSolana,
      `eip155 1 ${wallet} USDC`,
    ],
    [{ payoutNamespace: eip155, payoutWallet: wallet }, bare, "destination_required payoutChainReference"],
    [{ payoutNamespace: eip155, payoutChainReference: reference }, bare, "destination_required payoutWallet"],
    [{ payoutChainReference: reference, payoutWallet: wallet }, bare, "destination_required payoutNamespace"],
    [{ payoutTokenAddress: USDC }, bare, "destination_required payoutNamespace"],
    [{ payoutNamespace: eip155 }, onSolana, "wallet_required payoutWallet"],
    [{ payoutNamespace: eip155, payoutChainReference: reference }, onSolana, "wallet_required payoutWallet"],
    [{ payoutNamespace: eip155, payoutWallet: wallet }, onSolana, "destination_required payoutChainReference"],
    [
      { payoutChainReference: "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" },
      account(),
      "unsupported_destination payoutChainReference",
    ],
    [{ payoutChainReference: "01" }, account(), "unsupported_destination payoutChainReference"],
    [{ payoutChainReference: "2", payoutTokenAddress: DUSD }, account(), "unsupported_destination payoutTokenAddress"],
    [{ payoutChainReference: "2" }, account({ currency: "EURC" }), `eip155 2 ${WALLET} EURC`],
    [{ payoutChainReference: "2" }, account({ currency: null }), "token_required payoutTokenAddress"],
  ];
  for (const [input, of, expected] of table) assert.equal(describeResult(input, of), expected, JSON.stringify(input));
});

test("D11 EVM wallets are compared in lower case, and a wrong checksum is refused", () => {
  assert.equal(resolve({ payoutWallet: "0x52908400098527886E0F7030069857D2E4169EE7" }), `eip155 1 ${WALLET} USDC`);
  assertRefused({ payoutWallet: "0x52908400098527886E0F7030069857D2E4169Ee7" }, "invalid_request");
  for (const payoutWallet of ["", "0x", WALLET.slice(2), `${WALLET}0`, ` ${WALLET}`, WALLET.replace("0x", "0X")]) {
    assertRefused({ payoutWallet }, "invalid_request");
  }
});

test("34 however a destination is spelled, and whatever of it is left out, it is one destination", () => {
  const spelled = (address: string) =>
    fc.constantFrom(address, `0x${address.slice(2).toUpperCase()}`, getAddress(address));
  const orLeftOut = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
  const destination = fc.record(
    {
      payoutNamespace: orLeftOut(fc.constant("eip155")),
      payoutChainReference: orLeftOut(fc.constant("1")),
      payoutWallet: orLeftOut(spelled(WALLET)),
      payoutTokenAddress: orLeftOut(spelled(USDC)),
    },
    { requiredKeys: [] },
  );
  fc.assert(fc.property(destination, (input) => assert.equal(resolve(input), `eip155 1 ${WALLET} USDC`)));
  const other = fc.mixedCase(fc.constant(WALLET.slice(2))).filter((text) => text !== text.toUpperCase());
  fc.assert(
    fc.property(other, (digits) => {
      const payoutWallet = `0x${digits}`;
      if (digits === WALLET.slice(2) || payoutWallet === getAddress(WALLET)) return;
      assertRefused({ payoutWallet }, "invalid_request");
    }),
  );
});

test("D11 wallets that would swallow the money are refused", () => {
  const precompiles = ["0", "1", "11", "100"].map((digits) => `0x${digits.padStart(40, "0")}`);
  for (const payoutWallet of [...precompiles, hubAddress, USDC])
    assertRefused({ payoutWallet }, "unsupported_destination");
});

test("§1.6 only live rails are admitted", () => {
  assertRefused({ payoutChainReference: "999" }, "unsupported_destination");
  assertRefused({ payoutTokenAddress: WALLET }, "unsupported_destination");
});
