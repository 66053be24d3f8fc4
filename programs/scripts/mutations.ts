import { bridgeRows } from "./bridgeMutations.ts";

/** A plausible bug: a piece of one source file, and its replacement. */
export type Mutation = {
  readonly name: string;
  /** Relative to `programs/src/`. */
  readonly file: string;
  /** Occurs exactly once in the file, which a test checks. */
  readonly search: string;
  readonly replace: string;
};

export type Row = readonly [name: string, search: string, replace: string];

function inFile(file: string, rows: readonly Row[]): Mutation[] {
  return rows.map(([name, search, replace]) => ({ name, file, search, replace }));
}

/** The bugs that the tests must catch, each by itself. */
export const mutations: readonly Mutation[] = [
  ...inFile("call.h", [
    ["the mint is not pinned", "&terms[0], accounts[MINT].key, 32", "&terms[0], accounts[PAYEE].key, 32"],
    ["the payee is not pinned", "&terms[1], accounts[PAYEE].key, 32", "&terms[1], accounts[MINT].key, 32"],
    [
      "fee account and messenger are not pinned",
      "&terms[2], accounts[AGENT].key, 32",
      "&terms[2], accounts[MINT].key, 32",
    ],
    ["the rent recipient is not pinned", "accounts[RENT_RECIPIENT].key, 32", "accounts[MINT].key, 32"],
    ["the recovery key is not pinned", "accounts[RECOVERY].key, 32", "accounts[MINT].key, 32"],
    ["the settings are not pinned", "end - DATA_RECOVER_AFTER);", "8);"],
    [
      "recoverAfter is not pinned",
      "call->data + DATA_RECOVER_AFTER, end - DATA_RECOVER_AFTER",
      "call->data + DATA_SETTINGS, end - DATA_SETTINGS",
    ],
    ["one hash for both kinds", "call->kindSeed[1] = call->kind == KIND_PAY ? WORD", "call->kindSeed[1] = 1 ? WORD"],
    ["any token program", "if (!isTokenProgram(call->accounts[TOKEN_PROGRAM].key)) return ERROR_TOKEN_PROGRAM;", ""],
    ["Token-2022 is refused", " || isKey(key, KEY_TOKEN_2022); }", "; }"],
    ["data of any length", " || (call->dataSize - end) % INBOX_SIZE != 0) return ERROR_DATA;", ") return ERROR_DATA;"],
    ["data without an inbox", "if (call->dataSize < end + INBOX_SIZE || ", "if ("],
    ["short data", "if (call->dataSize < DATA_SETTINGS) return ERROR_DATA;", ""],
    ["a third kind", "if (call->kind > KIND_HOP) return ERROR_KIND;", ""],
    ["any number of accounts", "|| call->accountCount > ACCOUNTS_MAX", "|| call->accountCount > 64"],
    ["fewer accounts than every instruction has", "call->accountCount < FIRST + 2 || ", ""],
    ["the recovery key need not sign", "return recovery->isSigner && ", "return "],
    ["nobody may be the recovery key", "recovery->isSigner && !isKey(recovery->key, 0, 0, 0, 0)", "recovery->isSigner"],
    ["a clock before 1970", "clock.unixTime >= 0 && ", ""],
    ["a second early", "(u64)clock.unixTime >= readInteger", "(u64)clock.unixTime + 1 >= readInteger"],
    ["a second late", "(u64)clock.unixTime >= readInteger", "(u64)clock.unixTime > readInteger"],
  ]),
  ...inFile("token.h", [
    ["a wallet may stand in for the inbox", "if (inbox->pda->isSigner) return ERROR_PDA;", ""],
    [
      "a token account of any owner",
      "state == STATE_NONE || !isSameKey(tokenOwnerOf(inbox->account), inbox->pda->key)",
      "state == STATE_NONE",
    ],
    [
      "a token account of any program",
      "account->size < TOKEN_SIZE || !isSameKey(account->owner, program->key)",
      "account->size < TOKEN_SIZE",
    ],
    ["a token account of any length", "account->size < TOKEN_SIZE || !isSameKey", "!isSameKey"],
    [
      "a token account of any mint",
      "if (!isSameKey((const Key *)(account->data + TOKEN_MINT), mint->key)) return STATE_NONE;",
      "",
    ],
    [
      "an account of any type",
      "if (account->size > TOKEN_SIZE && account->data[TOKEN_SIZE] != TYPE_TOKEN_ACCOUNT) return STATE_NONE;",
      "",
    ],
    [
      "a mint of any program",
      " || !isSameKey(inbox->mint->owner, program->key)) return ERROR_MINT;",
      ") return ERROR_MINT;",
    ],
    ["a mint of any length", "inbox->mint->size < MINT_SIZE || ", ""],
    ["a frozen inbox goes on", "return state == STATE_INITIALIZED ? 0 : ERROR_FROZEN;", "return 0;"],
    ["an account that is not initialized", "state == STATE_NONE || !isSameKey(token", "!isSameKey(token"],
    ["an unknown extension is harmless", "if (!isHarmless) return 0;", ""],
    ["an extension that ends behind the account", "if (value + size > end) return 0;", ""],
    ["extensions have no end", "if (type == EXTENSION_END) return 1;", ""],
    ["only the first extension counts", "at = value + size;", "return 1;"],
    ["withheld fees block a close", "purpose == RECEIVING || readInteger(value, 8) == 0", "1"],
    [
      "a fee account with withheld fees is forfeited",
      "isHarmless = purpose == RECEIVING || readInteger(value, 8) == 0",
      "isHarmless = readInteger(value, 8) == 0",
    ],
    ["a fee account that requires memos blocks", "isHarmless = purpose == CLOSING || *value == 0", "isHarmless = 1"],
    ["a fee account that required memos is forfeited", "purpose == CLOSING || *value == 0", "purpose == CLOSING"],
    ["a withheld amount of any length", "type == EXTENSION_FEE_AMOUNT && size == 8", "type == EXTENSION_FEE_AMOUNT"],
    ["a memo switch of any length", "type == EXTENSION_MEMO_TRANSFER && size == 1", "type == EXTENSION_MEMO_TRANSFER"],
    ["a fee of kind hop", "call->kind != KIND_PAY || feeBps", "feeBps"],
    [
      "a fee account that cannot be paid blocks",
      "if (stateOf(fee, mint, &call->accounts[TOKEN_PROGRAM]) != STATE_INITIALIZED) return 0;",
      "",
    ],
    [
      "a frozen fee account blocks",
      "!= STATE_INITIALIZED) return 0;\n    if (!do",
      "== STATE_NONE) return 0;\n    if (!do",
    ],
    ["a fee account with any extension", "if (!doExtensionsPermit(fee, RECEIVING)) return 0;", ""],
    ["the fee is rounded up", "amount % BPS * feeBps / BPS;", "(amount % BPS * feeBps + BPS - 1) / BPS;"],
    [
      "the fee overflows",
      "return amount / BPS * feeBps + amount % BPS * feeBps / BPS;",
      "return amount * feeBps / BPS;",
    ],
    ["no fee", "return amount / BPS * feeBps + amount % BPS * feeBps / BPS;", "return 0;"],
  ]),
  ...inFile("sign.h", [
    [
      "anybody closes",
      "if (!rentRecipient->isSigner || !rentRecipient->isWritable) return 0;",
      "if (!rentRecipient->isWritable) return 0;",
    ],
    [
      "a read-only rent recipient blocks",
      "!rentRecipient->isSigner || !rentRecipient->isWritable",
      "!rentRecipient->isSigner",
    ],
    ["an account with a balance is closed", "amountOf(account) != 0 || ", ""],
    ["wrapped SOL is closed", "account->data[TOKEN_NATIVE] != 0 || ", ""],
    ["another's close authority blocks", " || account->data[TOKEN_CLOSER] != 0) return 0;", ") return 0;"],
    ["lamports on a token account go to the operator", "if (*account->lamports >= LAMPORTS_RENT_END) return 0;", ""],
    [
      "a lamport too many goes to the operator",
      "*account->lamports >= LAMPORTS_RENT_END",
      "*account->lamports > LAMPORTS_RENT_END",
    ],
    [
      "withheld fees stop a settlement",
      "if (account->size > TOKEN_SIZE && !doExtensionsPermit(account, CLOSING)) return 0;",
      "",
    ],
    ["any system program", "if (!isKey(system->key, KEY_SYSTEM)) return ERROR_PROGRAM;", ""],
    ["a transfer of nothing", "if (lamports == 0) return ERROR_NOTHING;", ""],
    ["the salt is not pinned", "&seeds[2], inboxSeeds + 1, 32", "&seeds[2], inboxSeeds + 1, 31"],
  ]),
  ...inFile("settle.h", [
    [
      "a payout account of any owner",
      "state != STATE_INITIALIZED || !isSameKey(tokenOwnerOf(payout), wallet->key)",
      "state != STATE_INITIALIZED",
    ],
    ["a payout account in any state", "if (state != STATE_INITIALIZED || ", "if ("],
    [
      "any account of the payout wallet",
      "return wallet->isSigner || isPayoutAssociated(call, payout) ? 0 : ERROR_PAYOUT;",
      "return 0;",
    ],
    ["the payout wallet cannot name another account", "wallet->isSigner || isPayoutAssociated", "isPayoutAssociated"],
    ["the bump of the payout account is ignored", "call->data + DATA_OPTION, 1", "call->data + DATA_OPTION, 0"],
    ["settles any kind", "if (call->kind != KIND_PAY) return ERROR_KIND;", ""],
    [
      "settles with any number of accounts",
      "if (call->accountCount != SETTLE_INBOXES + SETTLE_PER_INBOX * call->inboxCount) return ERROR_ACCOUNTS;",
      "",
    ],
    ["settles with more accounts", "call->accountCount != SETTLE_INBOXES", "call->accountCount < SETTLE_INBOXES"],
    ["no limit of the fee", "if (readInteger(call->data + PAY_FEE_BPS, 2) > FEE_BPS_MAX) return ERROR_FEE_BPS;", ""],
    [
      "the fee comes on top",
      "&call->accounts[SETTLE_PAYOUT], amount - fee)",
      "&call->accounts[SETTLE_PAYOUT], amount)",
    ],
    ["the fee is not transferred", "if (!failure) failure = transfer(call, inbox, &call->accounts[AGENT], fee);", ""],
    ["only the first inbox", "i < call->inboxCount && !failure", "i < 1 && !failure"],
    ["a failure does not stop a batch", "i < call->inboxCount && !failure", "i < call->inboxCount"],
    ["every inbox signs with the first one's seeds", "call->inboxes + INBOX_SIZE * i", "call->inboxes"],
    ["nothing is closed", "return failure ? failure : closeForRent(call, inbox);", "return failure;"],
  ]),
  ...inFile("bridge.h", bridgeRows),
  ...inFile("rescue.h", [
    ["anybody rescues", "u64 failure = checkRecovery(call);", "u64 failure = 0;"],
    ["the pinned mint at any time", "if (isPinned && !isRecoverable(call)) return ERROR_EARLY;", ""],
    ["another mint has to wait too", "if (isPinned && !isRecoverable", "if (!isRecoverable"],
    ["no fee of a rescue", "isPinned ? feeOf(call, inbox.mint, amount) : 0", "0"],
    ["a fee of another mint", "isPinned ? feeOf(call, inbox.mint, amount) : 0", "amount / 100"],
    ["rescues an account of any owner", "if (!failure) failure = checkInbox(call, &inbox);", ""],
    ["a rescue always closes", "return failure || !isClosing ? failure", "return failure ? failure"],
    ["rescues two inboxes", " || call->inboxCount != 1) return ERROR_ACCOUNTS;", ") return ERROR_ACCOUNTS;"],
    [
      "rescues with more accounts",
      "(!isClosing && call->accountCount != RESCUE_LAMPORTS_TO)",
      "(!isClosing && call->accountCount < RESCUE_LAMPORTS_TO)",
    ],
    [
      "rescues with fewer accounts",
      "(!isClosing && call->accountCount != RESCUE_LAMPORTS_TO)",
      "(!isClosing && call->accountCount > RESCUE_LAMPORTS_TO)",
    ],
  ]),
  ...inFile("lamports.h", [
    ["anybody rescues lamports", "u64 failure = checkRecovery(call), lamports", "u64 failure = 0, lamports"],
    ["the priming is taken", "lamports < LAMPORTS_RENT_END ? 0 : lamports - LAMPORTS_PRIMED", "lamports"],
    ["a rent is taken", "lamports < LAMPORTS_RENT_END ? 0 : lamports - LAMPORTS_PRIMED", "lamports - LAMPORTS_PRIMED"],
    ["never everything", "if (!isRecoverable(call)) lamports =", "lamports ="],
    ["rescueLamports with any number of accounts", "call->accountCount != RESCUE_LAMPORTS_ACCOUNTS || ", ""],
    ["reclaim with any number of accounts", "call->accountCount != RECLAIM_ACCOUNTS || ", ""],
    ["reclaim without a signature", "if (!rentRecipient->isSigner) return ERROR_RENT;", ""],
    ["a payer's SOL goes to the operator", "if (*inbox->lamports >= LAMPORTS_RENT_END) return ERROR_EXCESS;", ""],
    [
      "a lamport too many is reclaimed",
      "*inbox->lamports >= LAMPORTS_RENT_END",
      "*inbox->lamports > LAMPORTS_RENT_END",
    ],
    [
      "a wallet may stand in for the inbox in rescueLamports",
      "if (inbox->isSigner) return ERROR_PDA;\n    u64 failure",
      "u64 failure",
    ],
    [
      "a wallet may stand in for the inbox in reclaim",
      "if (inbox->isSigner) return ERROR_PDA;\n    if (!rent",
      "if (!rent",
    ],
    ["rescueLamports of two inboxes", "RESCUE_LAMPORTS_ACCOUNTS || call->inboxCount != 1", "RESCUE_LAMPORTS_ACCOUNTS"],
    ["reclaim of two inboxes", "RECLAIM_ACCOUNTS || call->inboxCount != 1", "RECLAIM_ACCOUNTS"],
  ]),
  ...inFile("unnest.h", [
    [
      "any associated token program",
      "if (!isKey(accounts[UNNEST_PROGRAM].key, KEY_ASSOCIATED_TOKEN)) return ERROR_PROGRAM;",
      "",
    ],
    ["a wallet may stand in for the inbox in unnest", "if (accounts[UNNEST_INBOX].isSigner) return ERROR_PDA;", ""],
    ["unnests with any number of accounts", "call->accountCount != UNNEST_ACCOUNTS || ", ""],
    ["unnests two inboxes", " || call->inboxCount != 1", ""],
  ]),
  ...inFile("inbox.c", [
    ["an unknown tag settles", "return ERROR_DATA;\n}", "return settle(&call);\n}"],
    ["failures of reading are ignored", "if (failure) return failure;", ""],
  ]),
];
