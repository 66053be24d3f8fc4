import { decodeKey, tokenProgram } from "@tributary/inbox/solana/keys";
import { changeResult, type SolanaFault } from "./solanaProxy.ts";

// What a provider of a Solana chain may claim against the others. Each lie is consistent: the provider's lists,
// transactions, blocks and balances agree with each other, so that only another provider shows it.

type Listed = { signature: string; slot: number };
type TokenAmount = { accountIndex: number; uiTokenAmount: { amount: string } };
type Transaction = {
  slot: number;
  transaction: { message: { accountKeys: string[] } };
  meta: { postTokenBalances: TokenAmount[] };
};
type AccountJson = { data: [string, string]; owner: string };
type Accounts = { context: { slot: number }; value: (AccountJson | null)[] };
type Block = { signatures?: string[] };
type Deposit = { signature: string; tokenAccount: string; units: bigint };

const UNITS = 64;
const OWNER = 32;
const STATE = 108;
const ACCOUNT_BYTES = 165;
const NOT_REACHED = { code: -32_004, message: "Block not available for slot" };

/** Applies one lie after the other to each answer. */
function combine(...lies: readonly SolanaFault[]): SolanaFault {
  return lies.reduce((inner, outer) => (call, forward) => outer(call, (changed = call) => inner(changed, forward)));
}

/** Shows neither the transaction nor what it brought to a token account. */
export function omitDeposit({ signature, tokenAccount, units }: Deposit): SolanaFault {
  return combine(
    changeResult("getSignaturesForAddress", (entries: Listed[]) =>
      entries.filter((entry) => entry.signature !== signature),
    ),
    changeResult("getTransaction", (transaction: Transaction | null, { params }) =>
      params[0] === signature ? null : transaction,
    ),
    changeUnits(tokenAccount, (held) => (held > units ? held - units : 0n)),
  );
}

/** Shows another amount in the transaction and in the balance of its token account. */
export function changeAmount({ signature, tokenAccount, units }: Deposit, claimed: bigint): SolanaFault {
  return combine(
    changeResult("getTransaction", (transaction: Transaction | null, { params }) => {
      if (transaction === null || params[0] !== signature) return transaction;
      const index = transaction.transaction.message.accountKeys.indexOf(tokenAccount);
      for (const balance of transaction.meta.postTokenBalances)
        if (balance.accountIndex === index) balance.uiTokenAmount.amount = String(claimed);
      return transaction;
    }),
    changeUnits(tokenAccount, (held) => (held === units ? claimed : held)),
  );
}

type Forgery = {
  /** A true deposit, the first one of its owner, which is shown a second time. */
  template: Deposit & { owner: string };
  /** Where nothing was paid. */
  victim: { tokenAccount: string; owner: string; mint: string };
  signature: string;
};

/** Shows a deposit to an inbox that nobody paid, in the block of a true one. */
export function forgeDeposit({ template, victim, signature }: Forgery): SolanaFault {
  const disguise = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll(template.signature, signature)
        .replaceAll(template.tokenAccount, victim.tokenAccount)
        .replaceAll(template.owner, victim.owner),
    ) as T;
  const account = encodeAccount(victim, template.units);
  return combine(
    async (call, forward) => {
      const { method, params } = call;
      if (method === "getTransaction" && params[0] === signature)
        return disguise(await forward({ method, params: [template.signature, params[1]] }));
      if (method !== "getSignaturesForAddress" || params[0] !== victim.tokenAccount) return forward();
      const { result } = await forward({ method, params: [template.tokenAccount, params[1]] });
      return { result: disguise((result as Listed[]).filter((entry) => entry.signature === template.signature)) };
    },
    changeResult("getBlock", (block: Block | null) => {
      const isHere = block?.signatures?.includes(template.signature) === true;
      return isHere ? { ...block, signatures: [...(block.signatures ?? []), signature] } : block;
    }),
    changeResult("getMultipleAccounts", ({ context, value }: Accounts, { params }) => {
      const [keys, { dataSlice }] = params as [string[], { dataSlice?: { length: number } }];
      const data = account.subarray(0, dataSlice?.length).toString("base64");
      const forged: AccountJson = { owner: tokenProgram, data: [data, "base64"] };
      return { context, value: value.map((each, index) => (keys[index] === victim.tokenAccount ? forged : each)) };
    }),
  );
}

function encodeAccount({ owner, mint }: Forgery["victim"], units: bigint): Buffer {
  const data = Buffer.alloc(ACCOUNT_BYTES);
  data.set(decodeKey("mint", mint), 0);
  data.set(decodeKey("owner", owner), OWNER);
  data.writeBigUInt64LE(units, UNITS);
  data.writeUInt8(1, STATE);
  return data;
}

/** Shows the transaction in another slot, whose block then holds it. */
export function moveToSlot({ signature }: Deposit, slot: number): SolanaFault {
  return combine(
    changeResult("getSignaturesForAddress", (entries: Listed[]) =>
      entries.map((entry) => (entry.signature === signature ? { ...entry, slot } : entry)),
    ),
    changeResult("getTransaction", (transaction: Transaction | null, { params }) =>
      transaction === null || params[0] !== signature ? transaction : { ...transaction, slot },
    ),
    changeResult("getBlock", (block: Block | null, { params }) => {
      if (block?.signatures === undefined) return block;
      const others = block.signatures.filter((each) => each !== signature);
      return { ...block, signatures: params[0] === slot ? [...others, signature] : others };
    }),
  );
}

/** Answers as if no slot had come after this one. Accounts stay as they are first shown. */
export function freezeAt(slot: number): SolanaFault {
  const remembered = new Map<string, Awaited<ReturnType<SolanaFault>>>();
  return async (call, forward) => {
    const { method, params } = call;
    if (method === "getSlot") return { result: slot };
    if (method === "getBlock" && Number(params[0]) > slot) return { error: NOT_REACHED };
    if (/^get(?:MultipleAccounts|LatestBlockhash|BlockHeight)$/.test(method)) {
      const key = `${method} ${JSON.stringify(params)}`;
      const answer = remembered.get(key) ?? (await forward());
      remembered.set(key, answer);
      const { result } = answer;
      return method === "getBlockHeight" ? answer : { result: { ...(result as Accounts), context: { slot } } };
    }
    const { result, ...rest } = await forward();
    if (result === undefined) return rest;
    if (method === "getSignaturesForAddress")
      return { result: (result as Listed[]).filter((each) => each.slot <= slot) };
    if (method === "getTransaction") return { result: isAbove(result as Listed | null, slot) ? null : result };
    if (method.startsWith("getBlocks")) return { result: (result as number[]).filter((each) => each <= slot) };
    if (method !== "getSignatureStatuses") return { result };
    const { value } = result as { value: (Listed | null)[] };
    return { result: { context: { slot }, value: value.map((each) => (isAbove(each, slot) ? null : each)) } };
  };
}

/** Has other blocks than the cluster after a slot. */
export function forkAfter(slot: number): SolanaFault {
  type Header = { parentSlot: number; blockhash: string; previousBlockhash: string };
  const other = (hash: string) => Array.from(hash).toReversed().join("").replace(/^1+/, "2");
  return changeResult("getBlock", (block: Header | null, { params }) => {
    if (block === null || Number(params[0]) <= slot) return block;
    const { parentSlot, previousBlockhash } = block;
    return {
      ...block,
      blockhash: other(block.blockhash),
      previousBlockhash: parentSlot > slot ? other(previousBlockhash) : previousBlockhash,
    };
  });
}

function isAbove(found: { slot: number } | null, slot: number): boolean {
  return found !== null && found.slot > slot;
}

function changeUnits(tokenAccount: string, change: (units: bigint) => bigint): SolanaFault {
  return changeResult("getMultipleAccounts", (answer: Accounts, { params }) => {
    const keys = params[0] as string[];
    const value = answer.value.map((account, index) => {
      if (account === null || keys[index] !== tokenAccount) return account;
      const data = Buffer.from(account.data[0], "base64");
      if (data.length < UNITS + 8) return account;
      const units = change(data.readBigUInt64LE(UNITS));
      // An account that only the hidden deposit created.
      if (units === 0n) return null;
      data.writeBigUInt64LE(units, UNITS);
      return { ...account, data: [data.toString("base64"), "base64"] };
    });
    return { ...answer, value };
  });
}
