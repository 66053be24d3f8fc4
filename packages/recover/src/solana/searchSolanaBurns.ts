import { bytesToHex } from "@noble/hashes/utils";
import { solanaCctpDomain } from "@tributary/inbox/cctpV2Chains";
import { decodeBase58 } from "@tributary/inbox/solana/base58";
import { decodeKey } from "@tributary/inbox/solana/keys";
import type { FoundBurn, FoundBurns } from "../bridge/searchBurns.ts";
import type { RpcRequester } from "../rpc/rpcRequester.ts";
import type { RecoverableInbox } from "./parseSolanaInboxes.ts";

// What inboxes burned on Solana. Every burn names the inbox itself, which an ordinary deposit does not: its signatures
// are few, and each transaction says what Circle's messenger was asked for.

/** The first bytes of Circle's instruction `deposit_for_burn`. */
const DISCRIMINATOR = "d73c3d2e723780b0";
const BURN_BYTES = 96;
/** The base58 of a burn is shorter. */
const TEXT_MAX = 150;
/** Places in the instruction's data. */
const DATA = { amount: 8, domain: 16, recipient: 20, caller: 52 } as const;
const SIGNATURES_PER_PAGE = 1_000;
/** Anybody can name an inbox in a transaction. So many are read on one cluster. */
const TRANSACTIONS_MAX = 2_000;
const CONFIRMED = { commitment: "confirmed" } as const;
/** The versions of transactions that this reads. */
const VERSION_MAX = 1;

type Instruction = { readonly programIdIndex: number; readonly accounts: readonly number[]; readonly data: string };
type StoredTransaction = {
  readonly transaction: {
    readonly message: { readonly accountKeys: readonly string[]; readonly instructions: readonly Instruction[] };
  };
  readonly meta: {
    readonly err: unknown;
    readonly innerInstructions?: readonly { readonly instructions: readonly Instruction[] }[] | null;
    readonly loadedAddresses?: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
  } | null;
};
type SignatureEntry = { readonly signature: string; readonly err: unknown };

/** Finds the burns of the inboxes that bridge. */
export async function searchSolanaBurns(
  request: RpcRequester,
  recoverables: readonly RecoverableInbox[],
): Promise<FoundBurns> {
  const burns: FoundBurn[] = [];
  let left = TRANSACTIONS_MAX;
  let isComplete = true;
  for (const { inbox } of recoverables) {
    if (inbox.terms.kind !== "hop") continue;
    const found = await listSignatures(request, inbox.address, left);
    left -= found.signatures.length;
    isComplete &&= found.isComplete;
    for (const signature of found.signatures) {
      const transaction = await readTransaction(request, signature);
      if (transaction === undefined) isComplete = false;
      else
        burns.push(...parseBurns(transaction, { signature, inbox: inbox.address, messenger: inbox.terms.messenger }));
    }
  }
  return { burns, isComplete };
}

/** The successful transactions that name an address, newest first. */
async function listSignatures(
  request: RpcRequester,
  address: string,
  max: number,
): Promise<{ signatures: string[]; isComplete: boolean }> {
  const signatures: string[] = [];
  let before: string | undefined;
  for (;;) {
    const options = { ...CONFIRMED, limit: SIGNATURES_PER_PAGE, ...(before === undefined ? {} : { before }) };
    const page = await request("getSignaturesForAddress", [address, options]).catch(() => undefined);
    if (!Array.isArray(page)) return { signatures, isComplete: false };
    const entries = page as SignatureEntry[];
    signatures.push(...entries.filter(({ err }) => err === null).map(({ signature }) => signature));
    if (signatures.length > max) return { signatures: signatures.slice(0, max), isComplete: false };
    before = entries.at(-1)?.signature;
    if (entries.length < SIGNATURES_PER_PAGE) return { signatures, isComplete: true };
  }
}

async function readTransaction(request: RpcRequester, signature: string): Promise<StoredTransaction | undefined> {
  const options = { ...CONFIRMED, encoding: "json", maxSupportedTransactionVersion: VERSION_MAX };
  const stored = await request("getTransaction", [signature, options]);
  return (stored as StoredTransaction | null) ?? undefined;
}

type BurnSearch = { readonly signature: string; readonly inbox: string; readonly messenger: string };

function parseBurns({ transaction, meta }: StoredTransaction, search: BurnSearch): FoundBurn[] {
  if (meta === null || meta.err !== null) return [];
  const { message } = transaction;
  const { writable = [], readonly = [] } = meta.loadedAddresses ?? {};
  const keys = [...message.accountKeys, ...writable, ...readonly];
  const inner = (meta.innerInstructions ?? []).flatMap(({ instructions }) => instructions);
  return [...message.instructions, ...inner].flatMap(({ programIdIndex, accounts, data }) => {
    const isOwn = keys[programIdIndex] === search.messenger && keys[accounts[0] ?? -1] === search.inbox;
    return isOwn ? parseBurn(data, search) : [];
  });
}

function parseBurn(data: string, { signature, inbox }: BurnSearch): FoundBurn[] {
  const bytes = data.length > TEXT_MAX ? undefined : decodeBase58(data);
  if (bytes === undefined || bytes.length < BURN_BYTES || bytesToHex(bytes.slice(0, 8)) !== DISCRIMINATOR) return [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return [
    {
      txHash: signature,
      chain: "Solana",
      sourceDomain: solanaCctpDomain,
      depositor: `0x${bytesToHex(decodeKey("inbox", inbox))}`,
      recipient: `0x${bytesToHex(bytes.slice(DATA.recipient, DATA.caller))}`,
      settleDomain: view.getUint32(DATA.domain, true),
      units: view.getBigUint64(DATA.amount, true),
    },
  ];
}
