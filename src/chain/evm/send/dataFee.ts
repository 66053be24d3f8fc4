import { encodeFunctionData, keccak256, numberToHex, parseAbi, concatHex, type Hex } from "viem";
import { ProviderFailed } from "../../reader.ts";
import { CallReverted } from "../node.ts";
import type { EvmProviders } from "../evmProviders.ts";

// What a rollup takes for a transaction besides the gas that it executes. Chains of the OP Stack answer it with the
// contract GasPriceOracle: the fee for the data on layer 1, and the operator's fee. Arbitrum adds gas for the data,
// which its NodeInterface tells. Other chains have neither.

const ORACLE = "0x420000000000000000000000000000000000000f";
const NODE_INTERFACE = "0x00000000000000000000000000000000000000c8";
const oracleAbi = parseAbi([
  "function getL1Fee(bytes data) view returns (uint256)",
  "function getOperatorFee(uint256 gasUsed) view returns (uint256)",
]);
const nodeInterfaceAbi = parseAbi([
  "function gasEstimateL1Component(address to, bool contractCreation, bytes data) payable returns (uint64 gasEstimateForL1, uint256 baseFee, uint256 l1BaseFeeEstimate)",
]);

/** The bytes of one first settlement, signed, about. */
const SETTLEMENT_BYTES = 900;
const WORD_BYTES = 32;
/** As badly compressible as the addresses and hashes of a settlement. */
const SETTLEMENT_DATA = concatHex(
  Array.from({ length: Math.ceil(SETTLEMENT_BYTES / WORD_BYTES) }, (_, word) => keccak256(numberToHex(word))),
);

export type Settlement = { gasLimit: bigint; maxFeePerGas: bigint };

/** In wei, on top of the gas limit. 0 on a chain that takes nothing else. */
export async function settlementDataFee(providers: EvmProviders, settlement: Settlement): Promise<bigint> {
  const [oracle, gas] = await Promise.all([askOracle(providers, settlement.gasLimit), askNodeInterface(providers)]);
  return oracle + gas * settlement.maxFeePerGas;
}

async function askOracle(providers: EvmProviders, gasUsed: bigint): Promise<bigint> {
  const dataCall = encodeFunctionData({ abi: oracleAbi, functionName: "getL1Fee", args: [SETTLEMENT_DATA] });
  const data = await callIfPresent(providers, ORACLE, dataCall);
  if (data === undefined) return 0n;
  const operatorCall = encodeFunctionData({ abi: oracleAbi, functionName: "getOperatorFee", args: [gasUsed] });
  // Only chains since the upgrade Isthmus have it.
  const operator = await callIfPresent(providers, ORACLE, operatorCall);
  return readWord(data) + (operator === undefined ? 0n : readWord(operator));
}

async function askNodeInterface(providers: EvmProviders): Promise<bigint> {
  const args = [ORACLE, false, SETTLEMENT_DATA] as const;
  const data = encodeFunctionData({ abi: nodeInterfaceAbi, functionName: "gasEstimateL1Component", args });
  const answer = await callIfPresent(providers, NODE_INTERFACE, data);
  return answer === undefined ? 0n : readWord(answer);
}

function readWord(answer: Hex): bigint {
  return BigInt(answer.slice(0, 2 + 2 * WORD_BYTES));
}

/** Undefined where no contract answers: not every chain has it, nor every version of it the function. */
async function callIfPresent(providers: EvmProviders, to: Hex, data: Hex): Promise<Hex | undefined> {
  try {
    const answer = (await providers.call({ to, data })) as Hex;
    return answer.length < 2 + 2 * WORD_BYTES ? undefined : answer;
  } catch (error) {
    if (error instanceof CallReverted || (error instanceof ProviderFailed && error.kind === "bad_answer"))
      return undefined;
    throw error;
  }
}
