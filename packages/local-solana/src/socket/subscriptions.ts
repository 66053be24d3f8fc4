import type { LandedTransaction } from "../ledger/executedTransaction.ts";
import type { Block, Commitment, Ledger } from "../ledger/ledger.ts";
import type { Methods } from "../rpc/methods.ts";
import { encodeAccount } from "../rpc/encodeAccount.ts";
import { readCommitment, readInteger, readKey, readList, readOptions, readText, withContext } from "../rpc/params.ts";
import type { CallOptions } from "../rpc/params.ts";
import { RpcError } from "../rpc/rpcError.ts";

// What one websocket connection has subscribed to. A notification about a level comes when the block reaches it.

type Kind = "slot" | "root" | "account" | "logs" | "signature";
type Subscription = {
  readonly kind: Kind;
  readonly commitment: Commitment;
  readonly options: CallOptions;
  /** The account or signature; undefined means all. */
  readonly key?: string;
};

export type Notification = { readonly method: string; readonly subscription: number; readonly result: unknown };

const SUBSCRIPTIONS_MAX = 1_000;
const KINDS: readonly Kind[] = ["slot", "root", "account", "logs", "signature"];

/** The next number of a subscription, in all connections. */
let nextId = 1;

export class Subscriptions {
  readonly methods: Methods;
  readonly #ledger: Ledger;
  readonly #notify: (notification: Notification) => void;
  readonly #subscriptions = new Map<number, Subscription>();

  constructor(ledger: Ledger, notify: (notification: Notification) => void) {
    this.#ledger = ledger;
    this.#notify = notify;
    const unsubscribe = KINDS.map((kind) => [`${kind}Unsubscribe`, ([id]: readonly unknown[]) => this.#remove(id)]);
    this.methods = {
      slotSubscribe: () => this.#add({ kind: "slot", commitment: "processed", options: {} }),
      rootSubscribe: () => this.#add({ kind: "root", commitment: "finalized", options: {} }),
      accountSubscribe: ([key, options]) => this.#add({ ...readTarget("account", options), key: readKey(key) }),
      logsSubscribe: ([filter, options]) => this.#add({ ...readTarget("logs", options), ...readMentions(filter) }),
      signatureSubscribe: ([signature, options]) => this.#addSignature(readText(signature), options),
      ...(Object.fromEntries(unsubscribe) as Methods),
    };
    ledger.listeners.add(this.#listener);
  }

  close(): void {
    this.#ledger.listeners.delete(this.#listener);
    this.#subscriptions.clear();
  }

  readonly #listener = {
    slot: ({ slot, parentSlot }: Block, root: number) => {
      for (const [id] of this.#of("slot", "processed")) this.#send("slot", id, { parent: parentSlot, root, slot });
    },
    transaction: (landed: LandedTransaction) => this.#announce(landed, "processed"),
    accounts: (keys: readonly string[]) => this.#announceAccounts(keys, "processed"),
    reached: (block: Block, commitment: "confirmed" | "finalized") => {
      for (const landed of block.transactions) this.#announce(landed, commitment);
      this.#announceAccounts(block.changed, commitment);
      if (commitment === "confirmed") return;
      for (const [id] of this.#of("root", commitment)) this.#send("root", id, block.slot);
    },
  };

  #announce(landed: LandedTransaction, commitment: Commitment): void {
    const { signature, error, logs, keys } = landed;
    const block = this.#ledger.head(commitment);
    for (const [id, { key }] of this.#of("signature", commitment)) {
      if (key !== signature) continue;
      this.#subscriptions.delete(id);
      this.#send("signature", id, withContext(block, { err: error }));
    }
    for (const [id, { key }] of this.#of("logs", commitment)) {
      if (key === undefined || keys.includes(key))
        this.#send("logs", id, withContext(block, { signature, err: error, logs }));
    }
  }

  #announceAccounts(keys: Iterable<string>, commitment: Commitment): void {
    const subscribed = [...this.#of("account", commitment)];
    if (subscribed.length === 0) return;
    const changed = new Set(keys);
    const block = this.#ledger.head(commitment);
    const read = (key: string) => this.#ledger.accountAt(key, block);
    for (const [id, { key = "", options }] of subscribed) {
      if (changed.has(key)) this.#send("account", id, withContext(block, encodeAccount(read(key), options, read)));
    }
  }

  *#of(kind: Kind, commitment: Commitment): Generator<[number, Subscription]> {
    for (const entry of this.#subscriptions) {
      if (entry[1].kind === kind && entry[1].commitment === commitment) yield entry;
    }
  }

  #send(kind: Kind, subscription: number, result: unknown): void {
    this.#notify({ method: `${kind}Notification`, subscription, result });
  }

  #add(subscription: Subscription): number {
    if (this.#subscriptions.size >= SUBSCRIPTIONS_MAX) throw new RpcError("internalError", "Too many subscriptions");
    const id = nextId;
    nextId += 1;
    this.#subscriptions.set(id, subscription);
    return id;
  }

  /** A transaction that has reached the level already is announced at once, after the reply. */
  #addSignature(signature: string, given: unknown): number {
    const target = readTarget("signature", given);
    const id = this.#add({ ...target, key: signature });
    const landed = this.#ledger.transaction(signature);
    const block = this.#ledger.head(target.commitment);
    if (landed !== undefined && landed.slot <= block.slot) queueMicrotask(() => this.#announceLate(id, landed));
    return id;
  }

  #announceLate(id: number, { error }: LandedTransaction): void {
    const subscription = this.#subscriptions.get(id);
    if (subscription === undefined || !this.#subscriptions.delete(id)) return;
    this.#send("signature", id, withContext(this.#ledger.head(subscription.commitment), { err: error }));
  }

  #remove(id: unknown): boolean {
    if (this.#subscriptions.delete(readInteger(id))) return true;
    throw new RpcError("invalidParams", "Invalid subscription id.");
  }
}

function readTarget(kind: Kind, given: unknown): Subscription {
  const options = readOptions(given);
  return { kind, commitment: readCommitment(options["commitment"]), options };
}

function readMentions(filter: unknown): { key?: string } {
  if (filter === "all" || filter === "allWithVotes") return {};
  const [key] = readList(readOptions(filter)["mentions"], 1);
  return { key: readKey(key) };
}
