import {
  InstructionErrorCustom,
  TransactionErrorDuplicateInstruction,
  TransactionErrorInstructionError,
  TransactionErrorInsufficientFundsForRent,
} from "litesvm/dist/internal.js";
import type { FailedTransactionMetadata } from "litesvm/dist/internal.js";

// Why a transaction fails, as JSON-RPC writes it. The runtime numbers the errors in this order.

export type TransactionError = string | Readonly<Record<string, unknown>>;

const TRANSACTION_ERRORS = (
  "AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee InvalidAccountForFee " +
  "AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee InvalidAccountIndex SignatureFailure " +
  "InvalidProgramForExecution SanitizeFailure ClusterMaintenance AccountBorrowOutstanding WouldExceedMaxBlockCostLimit " +
  "UnsupportedVersion InvalidWritableAccount WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit " +
  "TooManyAccountLocks AddressLookupTableNotFound InvalidAddressLookupTableOwner InvalidAddressLookupTableData " +
  "InvalidAddressLookupTableIndex InvalidRentPayingAccount WouldExceedMaxVoteCostLimit " +
  "WouldExceedAccountDataTotalLimit MaxLoadedAccountsDataSizeExceeded ResanitizationNeeded " +
  "InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction ProgramCacheHitMaxLimit CommitCancelled"
).split(" ");

const INSTRUCTION_ERRORS = (
  "GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall InsufficientFunds " +
  "IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount UnbalancedInstruction " +
  "ModifiedProgramId ExternalAccountLamportSpend ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified " +
  "DuplicateAccountIndex ExecutableModified RentEpochModified NotEnoughAccountKeys AccountDataSizeChanged " +
  "AccountNotExecutable AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync InvalidError " +
  "ExecutableDataModified ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId CallDepth " +
  "MissingAccount ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ComputationalBudgetExceeded " +
  "PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile Immutable " +
  "IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow UnsupportedSysvar IllegalOwner " +
  "MaxAccountsDataAllocationsExceeded MaxAccountsExceeded MaxInstructionTraceLengthExceeded " +
  "BuiltinProgramsMustConsumeComputeUnits BorshIoError"
).split(" ");

const SENTENCES: Readonly<Record<string, string>> = {
  AccountNotFound: "Attempt to debit an account but found no record of a prior credit.",
  ProgramAccountNotFound: "Attempt to load a program that does not exist",
  InsufficientFundsForFee: "Insufficient funds for fee",
  InvalidAccountForFee: "This account may not be used to pay transaction fees",
  AlreadyProcessed: "This transaction has already been processed",
  BlockhashNotFound: "Blockhash not found",
  SignatureFailure: "Transaction did not pass signature verification",
  InvalidProgramForExecution: "This program may not be used for executing instructions",
  SanitizeFailure: "Transaction failed to sanitize accounts offsets correctly",
  AddressLookupTableNotFound: "Transaction loads an address table account that doesn't exist",
  InvalidAddressLookupTableOwner: "Transaction loads an address table account with an invalid owner",
  InvalidAddressLookupTableData: "Transaction loads an address table account with invalid data",
  InvalidAddressLookupTableIndex: "Transaction address table lookup uses an invalid index",
};

export function toTransactionError(error: ReturnType<FailedTransactionMetadata["err"]>): TransactionError {
  if (typeof error === "number") return TRANSACTION_ERRORS[error] ?? "SanitizeFailure";
  if (error instanceof TransactionErrorInstructionError) {
    return { InstructionError: [error.index, toInstructionError(error.err())] };
  }
  if (error instanceof TransactionErrorDuplicateInstruction) return { DuplicateInstruction: error.index };
  const name =
    error instanceof TransactionErrorInsufficientFundsForRent
      ? "InsufficientFundsForRent"
      : "ProgramExecutionTemporarilyRestricted";
  return { [name]: { account_index: error.accountIndex } };
}

function toInstructionError(error: ReturnType<TransactionErrorInstructionError["err"]>): unknown {
  if (typeof error === "number") return INSTRUCTION_ERRORS[error] ?? "GenericError";
  return error instanceof InstructionErrorCustom ? { Custom: error.code } : "BorshIoError";
}

/** The sentence in the message of a refused transaction. */
export function describeTransactionError(error: TransactionError): string {
  if (typeof error === "string") return SENTENCES[error] ?? error;
  const { InstructionError: failed } = error as { InstructionError?: [number, unknown] };
  if (failed !== undefined) {
    const [index, reason] = failed;
    const code = (reason as { Custom?: number }).Custom;
    const words = code === undefined ? spell(String(reason)) : `custom program error: 0x${code.toString(16)}`;
    return `Error processing Instruction ${index}: ${words}`;
  }
  const { InsufficientFundsForRent: rent } = error as { InsufficientFundsForRent?: { account_index: number } };
  return rent === undefined
    ? JSON.stringify(error)
    : `Transaction results in an account (${rent.account_index}) with insufficient funds for rent`;
}

/** "InvalidAccountData" as "invalid account data". */
function spell(name: string): string {
  return name.replaceAll(/(?!^)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase();
}
