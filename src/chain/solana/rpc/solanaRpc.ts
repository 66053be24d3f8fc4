import { ProviderFailed } from "../../reader.ts";
import { JsonRpcClient, type RpcCall } from "../../rpc/jsonRpcClient.ts";
import { parseArray, parseObject } from "../../rpc/jsonValues.ts";
import { RpcError } from "../../rpc/rpcError.ts";
import { hasUnknownMint } from "../bridge/bridgeMints.ts";
import { parseProducedBlock, type ProducedBlock } from "./parseBlock.ts";
import { parseTransaction, UnreadableTransaction, VERSION_MAX, type SolanaTransaction } from "./parseTransaction.ts";
import { describeUnsupportedVersion, isSkippedSlot, isUnknownBlock, toProviderError } from "./solanaErrors.ts";
import { parseAddress, parseCount, parseSignature, parseSlot } from "./values.ts";

// The requests of the reader to one node. Lists and their transactions are read at one commitment, so that no window
// between two commitments is skipped.

export type Commitment = "confirmed" | "finalized";

const CONFIRMED = { commitment: "confirmed" } as const;
/** Nodes refuse a transaction of a higher version, and without this option every transaction that has one. */
const TRANSACTION_OPTIONS = { ...CONFIRMED, encoding: "json", maxSupportedTransactionVersion: VERSION_MAX } as const;
/** Accounts in a request. */
export const ACCOUNTS_MAX = 100;
const SIGNATURES_MAX = 1_000;
const TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 8;

export type SolanaAccount = {
  /** The program that owns it. */
  owner: string;
  /** The bytes that were asked for. */
  data: Buffer;
};

export type Accounts = { slot: bigint; accounts: (SolanaAccount | undefined)[] };

/** A transaction that names an address. */
export type ListedSignature = { signature: string; slot: bigint; succeeded: boolean };
export type SignaturePage = {
  /** Newest first. */
  entries: ListedSignature[];
  /** The confirmed slot of the node. */
  headSlot: bigint;
};

/** Every error is a ProviderFailed. */
export class SolanaRpc {
  readonly name: string;
  readonly #rpc: JsonRpcClient;

  constructor({ url, timeoutMs = TIMEOUT_MS }: { url: string; timeoutMs?: number | undefined }) {
    this.#rpc = new JsonRpcClient({ url, timeoutMs, connectionsMax: CONNECTIONS_MAX });
    this.name = this.#rpc.host;
  }

  async genesisHash(): Promise<string> {
    return parseAddress(await this.#request("getGenesisHash", []), "a genesis hash");
  }

  async slot(commitment: Commitment): Promise<bigint> {
    return parseSlot(await this.#request("getSlot", [{ commitment }]));
  }

  /**
   * Undefined when the node does not have the block (yet, or any more). Its transactions' signatures only on demand.
   */
  async block(
    slot: bigint,
    { commitment = "confirmed", details = "none" }: { commitment?: Commitment; details?: "none" | "signatures" } = {},
  ): Promise<ProducedBlock | "skipped" | undefined> {
    const options = {
      commitment,
      transactionDetails: details,
      rewards: false,
      maxSupportedTransactionVersion: VERSION_MAX,
    };
    try {
      const answer = await this.#rpc.request("getBlock", [Number(slot), options]);
      if (answer === null) return undefined;
      const block = parseProducedBlock(slot, answer);
      if (block.parentSlot >= slot && slot > 0n) throw this.#contradiction(`block ${slot} after itself`);
      if (details === "signatures" && block.signatures === undefined)
        throw new ProviderFailed("bad_answer", `${this.name} sent block ${slot} without its signatures`);
      return block;
    } catch (error) {
      if (isSkippedSlot(error)) return "skipped";
      if (isUnknownBlock(error)) return undefined;
      throw toProviderError(this.name, error);
    }
  }

  /** The first slots from `slot` on that have a confirmed block. */
  async producedSlots(slot: bigint, limit: number): Promise<bigint[]> {
    const answer = await this.#request("getBlocksWithLimit", [Number(slot), limit, CONFIRMED]);
    return this.#parseSlots(answer, { from: slot, to: undefined });
  }

  /** The slots of a range that have a confirmed block. */
  async producedSlotsBetween(from: bigint, to: bigint): Promise<bigint[]> {
    const answer = await this.#request("getBlocks", [Number(from), Number(to), CONFIRMED]);
    return this.#parseSlots(answer, { from, to });
  }

  /** At most 100 accounts, in the order of `keys`; only their first `length` bytes. */
  async accounts(keys: readonly string[], length: number): Promise<Accounts> {
    const options = { ...CONFIRMED, encoding: "base64", dataSlice: { offset: 0, length } };
    const answer = parseObject(await this.#request("getMultipleAccounts", [keys, options]), "accounts");
    const values = parseArray(answer["value"], "accounts");
    if (values.length !== keys.length) throw this.#contradiction("another number of accounts");
    return {
      slot: parseSlot(parseObject(answer["context"], "a context")["slot"]),
      accounts: values.map((value) => (value === null ? undefined : parseAccount(value, length))),
    };
  }

  /** Transactions that name an address, older than `before`, of a node that has reached a slot. */
  async signatures(
    address: string,
    { before, reachedSlot }: { before: string | undefined; reachedSlot: bigint },
  ): Promise<SignaturePage> {
    const from = before === undefined ? {} : { before };
    const options = { ...CONFIRMED, limit: SIGNATURES_MAX, minContextSlot: Number(reachedSlot), ...from };
    // In one request, so that one node answers both: the list of a node that lags behind is a part.
    const [head, answer] = await this.#requestAll([
      ["getSlot", [CONFIRMED]],
      ["getSignaturesForAddress", [address, options]],
    ]);
    const list = parseArray(answer, "signatures");
    if (list.length > SIGNATURES_MAX) throw this.#contradiction("more signatures than requested");
    return { entries: list.map(parseListedSignature), headSlot: parseSlot(head) };
  }

  /** Undefined for those that the node does not know as confirmed. One that nobody can parse spoils no other. */
  async transactions(
    signatures: readonly string[],
  ): Promise<(SolanaTransaction | UnreadableTransaction | undefined)[]> {
    const calls = signatures.map((signature): RpcCall => ["getTransaction", [signature, TRANSACTION_OPTIONS]]);
    const answers = await this.#rpc.requestEach(calls).catch((error: unknown) => {
      throw toProviderError(this.name, error);
    });
    return signatures.map((signature, index) => this.#parseTransaction(signature, answers[index]));
  }

  #parseTransaction(signature: string, answer: unknown): SolanaTransaction | UnreadableTransaction | undefined {
    if (answer === null) return undefined;
    if (answer instanceof RpcError) {
      const reason = describeUnsupportedVersion(answer);
      if (reason === undefined) throw toProviderError(this.name, answer);
      return new UnreadableTransaction(signature, { reason });
    }
    const transaction = parseTransaction(signature, answer);
    if (transaction instanceof UnreadableTransaction || !hasUnknownMint(transaction)) return transaction;
    const { keys, before, after } = transaction;
    const names = new Set([...keys, ...[...before, ...after].map(({ owner }) => owner)]);
    return new UnreadableTransaction(signature, {
      reason: "tokens of the bridge without a receipt",
      names: [...names],
    });
  }

  /** Returns the result of a call that the sender reads itself. */
  call(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.#request(method, params);
  }

  /** Closes the sockets; pending calls fail. */
  async close(): Promise<void> {
    await this.#rpc.close();
  }

  #parseSlots(answer: unknown, { from, to }: { from: bigint; to: bigint | undefined }): bigint[] {
    const slots = parseArray(answer, "slots").map(parseSlot);
    const isOrdered = slots.every((slot, index) => slot > (slots[index - 1] ?? from - 1n));
    if (!isOrdered || (to !== undefined && (slots.at(-1) ?? to) > to)) throw this.#contradiction("other slots");
    return slots;
  }

  async #request(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.#rpc.request(method, params).catch((error: unknown) => {
      throw toProviderError(this.name, error);
    });
  }

  async #requestAll(calls: readonly RpcCall[]): Promise<unknown[]> {
    return this.#rpc.requestAll(calls).catch((error: unknown) => {
      throw toProviderError(this.name, error);
    });
  }

  #contradiction(what: string): ProviderFailed {
    return new ProviderFailed("contradictory", `${this.name} answered with ${what}`);
  }
}

function parseAccount(value: unknown, length: number): SolanaAccount {
  const { owner, data } = parseObject(value, "an account");
  const [text, encoding] = parseArray(data, "the data of an account");
  if (typeof text !== "string" || encoding !== "base64")
    throw new ProviderFailed("bad_answer", "the provider sent an account in another encoding");
  const bytes = Buffer.from(text, "base64");
  if (bytes.length > length) throw new ProviderFailed("bad_answer", "the provider sent more of an account than asked");
  return { owner: parseAddress(owner, "the owner of an account"), data: bytes };
}

function parseListedSignature(value: unknown): ListedSignature {
  const { signature, slot, err, confirmationStatus } = parseObject(value, "a signature");
  if (err === undefined) throw new ProviderFailed("bad_answer", "the provider sent a signature without its result");
  if (confirmationStatus === "processed")
    throw new ProviderFailed("contradictory", "the provider listed a transaction that is not confirmed");
  return { signature: parseSignature(signature), slot: BigInt(parseCount(slot, "a slot")), succeeded: err === null };
}
