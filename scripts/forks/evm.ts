import { deterministicDeployer } from "@tributary/inbox/hub";
import type { Hex } from "@tributary/inbox/terms";
import type { DevAccount } from "../../src/dev/devAccounts.ts";
import type { ContractCall } from "../../src/dev/chains/devClient.ts";

// A chain in memory on @ethereumjs/vm. The package is of this folder alone: npm ci --ignore-scripts --prefix scripts/forks

export type Fork = "osaka" | "amsterdam";

export type Sent = { gas: bigint; isReverted: boolean; output: Hex };

/** The part of the packages that is used here. */
type Bytes = Uint8Array;
type Address = { bytes: Bytes };
type Packages = {
  createVM: (options: object) => Promise<Vm>;
  runTx: (vm: Vm, options: object) => Promise<RunTxResult>;
  Common: new (options: object) => object;
  Mainnet: object;
  createBlock: (data: object, options: object) => object;
  createLegacyTx: (data: object, options: object) => { sign(key: Bytes): object };
  createAccount: (data: object) => object;
  createAddressFromString: (text: string) => Address;
  hexToBytes: (text: string) => Bytes;
  bytesToHex: (bytes: Bytes) => Hex;
};
type Vm = {
  common: object;
  stateManager: {
    putAccount(address: Address, account: object): Promise<void>;
    putCode(address: Address, code: Bytes): Promise<void>;
    getCode(address: Address): Promise<Bytes>;
    checkpoint(): Promise<void>;
    revert(): Promise<void>;
  };
  evm: { runCall(options: object): Promise<{ execResult: { returnValue: Bytes; exceptionError?: unknown } }> };
};
type RunTxResult = {
  totalGasSpent: bigint;
  execResult: { returnValue: Bytes; exceptionError?: { error: string } };
};

/** What anvil has at this address from its genesis on. */
const DEPLOYER_CODE =
  "0x7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3";
const BLOCK_GAS = 200_000_000n;
const SIMULATION_GAS = 16_000_000n;
const BALANCE_WEI = 10n ** 24n;
const GAS_PRICE_WEI = 10n ** 9n;
const TIMESTAMP_S = 1_790_000_000n;

async function loadPackages(): Promise<Packages> {
  const names = ["vm", "common", "block", "tx", "util"];
  try {
    const modules = await Promise.all(names.map((name) => import(`@ethereumjs/${name}`) as Promise<object>));
    return Object.assign({}, ...modules) as Packages;
  } catch (error) {
    throw new Error("The EVM of this script is not installed: npm ci --ignore-scripts --prefix scripts/forks", {
      cause: error,
    });
  }
}

export class ForkChain {
  readonly chainId = 1;
  readonly #packages: Packages;
  readonly #vm: Vm;
  readonly #nonces = new Map<string, bigint>();

  private constructor(packages: Packages, vm: Vm) {
    this.#packages = packages;
    this.#vm = vm;
  }

  static async open(fork: Fork, funded: readonly DevAccount[]): Promise<ForkChain> {
    const packages = await loadPackages();
    const common = new packages.Common({ chain: packages.Mainnet, hardfork: fork });
    const vm = await packages.createVM({ common });
    const chain = new ForkChain(packages, vm);
    for (const { address } of funded)
      await vm.stateManager.putAccount(chain.#address(address), packages.createAccount({ balance: BALANCE_WEI }));
    await vm.stateManager.putCode(chain.#address(deterministicDeployer), packages.hexToBytes(DEPLOYER_CODE));
    return chain;
  }

  #address(text: string): Address {
    return this.#packages.createAddressFromString(text);
  }

  #block(): object {
    const header = { number: 30_000_000n, gasLimit: BLOCK_GAS, baseFeePerGas: 1n, timestamp: TIMESTAMP_S };
    return this.#packages.createBlock({ header }, { common: this.#vm.common, skipConsensusFormatValidation: true });
  }

  /** Sends one transaction, which is mined at once. */
  async send(from: DevAccount, { to, data = "0x", gasLimit = 16_000_000n }: ContractCall): Promise<Sent> {
    const { createLegacyTx, hexToBytes, runTx, bytesToHex } = this.#packages;
    const nonce = this.#nonces.get(from.address) ?? 0n;
    const body = {
      nonce,
      gasLimit,
      gasPrice: GAS_PRICE_WEI,
      data,
      ...(to === undefined ? {} : { to: this.#address(to) }),
    };
    const tx = createLegacyTx(body, { common: this.#vm.common }).sign(hexToBytes(from.privateKey));
    let result: RunTxResult;
    try {
      result = await runTx(this.#vm, { tx, block: this.#block(), skipHardForkValidation: true });
    } catch (error) {
      // No block takes a transaction with less gas than its data costs.
      if (error instanceof Error && error.message.includes("INTRINSIC_GAS_TOO_LOW"))
        return { gas: 0n, isReverted: true, output: "0x" };
      throw error;
    }
    this.#nonces.set(from.address, nonce + 1n);
    return {
      gas: result.totalGasSpent,
      isReverted: result.execResult.exceptionError !== undefined,
      output: bytesToHex(result.execResult.returnValue),
    };
  }

  /** Sends calls in order. Throws when one reverts. */
  async sendAll(from: DevAccount, calls: readonly ContractCall[]): Promise<Sent[]> {
    const sent: Sent[] = [];
    for (const call of calls) {
      const result = await this.send(from, call);
      if (result.isReverted) throw new Error(`a call to ${call.to} reverted with ${result.output}`);
      sent.push(result);
    }
    return sent;
  }

  /** The answer to a call that changes nothing. */
  async read(to: Hex, data: Hex): Promise<Hex> {
    const { hexToBytes, bytesToHex } = this.#packages;
    await this.#vm.stateManager.checkpoint();
    try {
      const call = { to: this.#address(to), data: hexToBytes(data), gasLimit: BLOCK_GAS, block: this.#block() };
      return bytesToHex((await this.#vm.evm.runCall(call)).execResult.returnValue);
    } finally {
      await this.#vm.stateManager.revert();
    }
  }

  /** The answer of creation code that is executed and forgotten, as a node's simulation of it. */
  async simulate(data: Hex): Promise<Hex> {
    const { hexToBytes, bytesToHex } = this.#packages;
    await this.#vm.stateManager.checkpoint();
    try {
      const call = { data: hexToBytes(data), gasLimit: SIMULATION_GAS, block: this.#block() };
      return bytesToHex((await this.#vm.evm.runCall(call)).execResult.returnValue);
    } finally {
      await this.#vm.stateManager.revert();
    }
  }

  /** Does some work and takes it back. */
  async attempt<T>(work: () => Promise<T>): Promise<T> {
    const nonces = new Map(this.#nonces);
    await this.#vm.stateManager.checkpoint();
    try {
      return await work();
    } finally {
      await this.#vm.stateManager.revert();
      this.#nonces.clear();
      for (const [address, nonce] of nonces) this.#nonces.set(address, nonce);
    }
  }

  async hasCode(address: Hex): Promise<boolean> {
    return (await this.#vm.stateManager.getCode(this.#address(address))).length > 0;
  }
}
