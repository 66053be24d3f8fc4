import assert from "node:assert/strict";
import { test } from "node:test";
import { hubAddress } from "@tributary/inbox/hub";
import { fc } from "../../../test/support/properties.ts";
import { getAddress } from "viem";
import { buildCatalog } from "../../catalog/catalog.ts";
import { MAX_FEE_PER_GAS_DEFAULT } from "../../config/knownChains.ts";
import type { EvmChainConfig } from "../../config/config.ts";
import { Fault } from "../../kernel/faults.ts";
import type { AccountRow } from "../../merchant/store.ts";
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
const chain = (chainId: number, more: Partial<EvmChainConfig>): EvmChainConfig => ({
  caip2: `eip155:${chainId}`,
  chainId,
  name: `Chain ${chainId}`,
  maxFeePerGas: MAX_FEE_PER_GAS_DEFAULT,
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
  number: 1,
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
  solana_recovery: null,
  solana_default_reference: null,
  solana_default_wallet: null,
  evm_default_reference: null,
  evm_default_wallet: null,
  limit_multiple: 1,
  created_at: new Date(0),
  origins: null,
  ...more,
});
const resolve = (input: DestinationInput, merchant = account()) => {
  const { namespace, chainReference, wallet, rail } = resolveDestination(catalog, merchant, input);
  return `${namespace} ${chainReference} ${wallet} ${rail.symbol}`;
};
const describeResult = (input: DestinationInput, merchant: AccountRow) => {
  try {
    return resolve(input, merchant);
  } catch (error) {
    return error instanceof Fault ? `${error.code} ${error.param}` : error;
  }
};
const assertRefused = (input: DestinationInput, code: string, merchant = account()) =>
  assert.throws(
    () => resolve(input, merchant),
    (error) => error instanceof Fault && error.code === code,
    JSON.stringify(input),
  );

test("§4.2.1 the account supplies absent parts; its currency or the chain's default supplies the token", () => {
  assert.equal(resolve({}), `eip155 1 ${WALLET} USDC`);
  assert.equal(resolve({}, account({ currency: null })), `eip155 1 ${WALLET} DUSD`);
  assert.equal(resolve({ payoutTokenAddress: DUSD.toUpperCase().replace("0X", "0x") }), `eip155 1 ${WALLET} DUSD`);
});

test("D11 a chain alone inherits the wallet, and requires a token where none is inherited", () => {
  assertRefused({ payoutChainReference: "2" }, "token_required");
  assert.equal(resolve({ payoutChainReference: "2", payoutTokenAddress: USDC }), `eip155 2 ${WALLET} EURC`);
});

test("D11 an account without defaults requires a destination, another namespace requires a wallet", () => {
  const bare = account({ payout_namespace: null, payout_chain_reference: null, payout_wallet: null });
  assertRefused({}, "destination_required", bare);
  assertRefused({ payoutNamespace: "solana", payoutChainReference: "mainnet" }, "wallet_required");
  assertRefused({ payoutNamespace: "solana" }, "wallet_required");
});

test("D11 each part is inherited on its own, and the fault names a missing part", () => {
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
  for (const [input, merchant, expected] of table)
    assert.equal(describeResult(input, merchant), expected, JSON.stringify(input));
});

test("D11 EVM wallets are compared in lower case, and a wrong checksum is refused", () => {
  assert.equal(resolve({ payoutWallet: "0x52908400098527886E0F7030069857D2E4169EE7" }), `eip155 1 ${WALLET} USDC`);
  assertRefused({ payoutWallet: "0x52908400098527886E0F7030069857D2E4169Ee7" }, "invalid_request");
  for (const payoutWallet of ["", "0x", WALLET.slice(2), `${WALLET}0`, ` ${WALLET}`, WALLET.replace("0x", "0X")]) {
    assertRefused({ payoutWallet }, "invalid_request");
  }
});

test("every spelling of a destination, with or without inherited parts, resolves to the same destination", () => {
  const spelled = (address: string) =>
    fc.constantFrom(address, `0x${address.slice(2).toUpperCase()}`, getAddress(address));
  const orAbsent = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
  const destination = fc.record(
    {
      payoutNamespace: orAbsent(fc.constant("eip155")),
      payoutChainReference: orAbsent(fc.constant("1")),
      payoutWallet: orAbsent(spelled(WALLET)),
      payoutTokenAddress: orAbsent(spelled(USDC)),
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

test("D11 wallets that would lose the money are refused", () => {
  const precompiles = ["0", "1", "11", "100"].map((digits) => `0x${digits.padStart(40, "0")}`);
  for (const payoutWallet of [...precompiles, hubAddress, USDC])
    assertRefused({ payoutWallet }, "unsupported_destination");
});

test("§1.6 only live rails are accepted", () => {
  assertRefused({ payoutChainReference: "999" }, "unsupported_destination");
  assertRefused({ payoutTokenAddress: WALLET }, "unsupported_destination");
});
