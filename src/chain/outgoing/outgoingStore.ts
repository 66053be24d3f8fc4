import { sql, type Selectable } from "kysely";
import type { Db, Tx } from "../../db/database.ts";
import { array } from "../../db/parameters.ts";
import type { OutgoingAttemptTable, OutgoingTransactionTable } from "./outgoingTables.ts";
import { assert } from "../../kernel/assert.ts";
import type { Caip2 } from "../../kernel/caip.ts";

// The signed transactions of every kind of chain. On EVM chains a nonce is allocated in the transaction that stores the
// bytes signed for it, so that no nonce is without bytes. The same bytes can be broadcast until the chain includes
// them, or until they expire.

type EvmColumns = { nonce: bigint; recipient: string; data: string; gas_limit: bigint };
type EvmFeeColumns = { max_fee_per_gas: bigint; max_priority_fee_per_gas: bigint };
export type OutgoingTransaction = Selectable<OutgoingTransactionTable> & EvmColumns;
export type OutgoingAttempt = Selectable<OutgoingAttemptTable> & EvmFeeColumns;

/** Registers the account with the chain's next nonce. Does nothing when it is registered. */
export async function registerGasAccount(
  db: Db,
  account: { chain: Caip2; address: string; nextNonce: bigint },
): Promise<void> {
  await db.root
    .insertInto("gas_account")
    .values({ chain: account.chain, address: account.address, next_nonce: account.nextNonce })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function isGasAccountRegistered(db: Db, account: { chain: Caip2; address: string }): Promise<boolean> {
  const row = await db.root
    .selectFrom("gas_account")
    .select("next_nonce")
    .where("chain", "=", account.chain)
    .where("address", "=", account.address)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Allocates the next nonce. The row lock orders concurrent workers, so an account's nonces have no gaps and no
 * duplicates.
 */
export async function allocateNonce(tx: Tx, account: { chain: Caip2; address: string }): Promise<bigint> {
  const row = await tx
    .updateTable("gas_account")
    .set({ next_nonce: sql<bigint>`next_nonce + 1` })
    .where("chain", "=", account.chain)
    .where("address", "=", account.address)
    .returning("next_nonce")
    .executeTakeFirst();
  assert(row, `the gas account ${account.address} on ${account.chain} is not registered`);
  return row.next_nonce - 1n;
}

/** The bytes to broadcast, and the transaction's hash or signature. */
export type SignedBytes = { raw: string; chainTx: string };

type NewAttempt = {
  signed: SignedBytes;
  at: Date;
  /** On EVM chains. */
  fees?: { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint };
  /** Where bytes expire. */
  lastValidHeight?: bigint;
};

export type NewOutgoing = Omit<NewAttempt, "signed"> & {
  chain: Caip2;
  sender: string;
  /** On EVM chains. */
  call?: { nonce: bigint; recipient: string; data: string; gasLimit: bigint };
  /** Signs the bytes of the transaction with this id. */
  sign: (id: bigint) => SignedBytes;
};

export async function insertOutgoing(tx: Tx, outgoing: NewOutgoing): Promise<bigint> {
  const { id } = await tx
    .insertInto("outgoing_transaction")
    .values({
      chain: outgoing.chain,
      sender: outgoing.sender,
      nonce: outgoing.call?.nonce ?? null,
      recipient: outgoing.call?.recipient ?? null,
      data: outgoing.call?.data ?? null,
      gas_limit: outgoing.call?.gasLimit ?? null,
      status: "signed",
      mined_chain_tx: null,
      mined_block_number: null,
      created_at: outgoing.at,
      closed_at: null,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  const isStored = await insertAttempt(tx, { ...outgoing, signed: outgoing.sign(id), outgoingId: id, attempt: 1 });
  assert(isStored, `the transaction ${id} has the bytes of an earlier one`);
  return id;
}

/** Returns false when another process stored that attempt. */
export async function insertAttempt(
  tx: Tx,
  attempt: NewAttempt & { outgoingId: bigint; attempt: number },
): Promise<boolean> {
  const inserted = await tx
    .insertInto("outgoing_attempt")
    .values({
      outgoing_id: attempt.outgoingId,
      attempt: attempt.attempt,
      chain_tx: attempt.signed.chainTx,
      raw: attempt.signed.raw,
      max_fee_per_gas: attempt.fees?.maxFeePerGas ?? null,
      max_priority_fee_per_gas: attempt.fees?.maxPriorityFeePerGas ?? null,
      last_valid_height: attempt.lastValidHeight ?? null,
      created_at: attempt.at,
      submitted_at: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("attempt")
    .executeTakeFirst();
  return inserted !== undefined;
}

/** The accounts of a chain with open transactions. */
export async function listOpenSenders(db: Db, scope: { chain: Caip2; limit: number }): Promise<string[]> {
  const rows = await db.root
    .selectFrom("outgoing_transaction")
    .select("sender")
    .distinct()
    .where("chain", "=", scope.chain)
    .where(sql<boolean>`status = 'signed'`)
    .orderBy("sender")
    .limit(scope.limit)
    .execute();
  return rows.map((row) => row.sender);
}

export type OpenOutgoingScope = {
  chain: Caip2;
  sender: string;
  nonces: { from?: bigint; below?: bigint };
  limit: number;
};

/** An account's open transactions, lowest nonce first, each with its attempts, newest first. */
export async function listOpenOutgoing(
  db: Db,
  scope: OpenOutgoingScope,
): Promise<{ transaction: OutgoingTransaction; attempts: OutgoingAttempt[] }[]> {
  const transactions = await db.root
    .selectFrom("outgoing_transaction")
    .selectAll()
    .where("chain", "=", scope.chain)
    .where("sender", "=", scope.sender)
    .where(sql<boolean>`status = 'signed'`)
    .where("nonce", ">=", scope.nonces.from ?? 0n)
    .$if(scope.nonces.below !== undefined, (select) => select.where("nonce", "<", scope.nonces.below ?? 0n))
    .orderBy("nonce")
    .limit(scope.limit)
    .$narrowType<EvmColumns>()
    .execute();
  if (transactions.length === 0) return [];
  const ids = transactions.map((transaction) => transaction.id);
  const attempts = await db.root
    .selectFrom("outgoing_attempt")
    .selectAll()
    .where("outgoing_id", "in", ids)
    .orderBy("attempt", "desc")
    .$narrowType<EvmFeeColumns>()
    .execute();
  const attemptsOf = Map.groupBy(attempts, (attempt) => attempt.outgoing_id);
  return transactions.map((transaction) => ({ transaction, attempts: attemptsOf.get(transaction.id) ?? [] }));
}

/** A chain's open transactions with their bytes, oldest first, on kinds of chains where bytes expire. */
export async function listExpiringOutgoing(
  db: Db,
  { chain, limit }: { chain: Caip2; limit: number },
): Promise<ExpiringOutgoing[]> {
  return db.root
    .selectFrom("outgoing_transaction as open")
    .innerJoin("outgoing_attempt as attempt", "attempt.outgoing_id", "open.id")
    .select(["open.id", "attempt.chain_tx as chainTx", "attempt.raw"])
    .select(["attempt.last_valid_height as lastValidHeight", "attempt.submitted_at as submittedAt"])
    .where("open.chain", "=", chain)
    .where("open.status", "=", "signed")
    .where("attempt.last_valid_height", "is not", null)
    .orderBy("open.id")
    .limit(limit)
    .$narrowType<{ lastValidHeight: bigint }>()
    .execute();
}

/** It has one attempt: when that expires, the transaction is closed. */
export type ExpiringOutgoing = {
  id: bigint;
  chainTx: string;
  raw: string;
  lastValidHeight: bigint;
  /** When a provider first took it; null before. */
  submittedAt: Date | null;
};

export async function markSubmitted(db: Db, attempt: { chainTx: string; at: Date }): Promise<void> {
  await db.root
    .updateTable("outgoing_attempt")
    .set({ submitted_at: attempt.at })
    .where("chain_tx", "=", attempt.chainTx)
    .where("submitted_at", "is", null)
    .execute();
}

/** How a transaction ended. A closed one stays unchanged. */
export type OutgoingClosure =
  | { id: bigint; status: "mined" | "reverted"; chainTx: string; blockNumber: bigint; at: Date }
  | { id: bigint; status: "lost"; at: Date };

export async function closeOutgoing(db: Db, closure: OutgoingClosure): Promise<void> {
  const mined = closure.status === "lost" ? undefined : closure;
  await db.root
    .updateTable("outgoing_transaction")
    .set({
      status: closure.status,
      mined_chain_tx: mined?.chainTx ?? null,
      mined_block_number: mined?.blockNumber ?? null,
      closed_at: closure.at,
    })
    .where("id", "=", closure.id)
    .where(sql<boolean>`status = 'signed'`)
    .execute();
}

/**
 * Closes a transaction in the caller's transaction, which stores its replacement. Returns false when it was closed
 * before.
 */
export async function markOutgoingLost(tx: Tx, closure: { id: bigint; at: Date }): Promise<boolean> {
  const lost = await tx
    .updateTable("outgoing_transaction")
    .set({ status: "lost", closed_at: closure.at })
    .where("id", "=", closure.id)
    .where(sql<boolean>`status = 'signed'`)
    .returning("id")
    .executeTakeFirst();
  return lost !== undefined;
}

/** Closes an account's open transactions from a nonce on. */
export async function markOutgoingLostFrom(
  db: Db,
  scope: { chain: Caip2; sender: string; from: bigint; at: Date },
): Promise<void> {
  await db.root
    .updateTable("outgoing_transaction")
    .set({ status: "lost", closed_at: scope.at })
    .where("chain", "=", scope.chain)
    .where("sender", "=", scope.sender)
    .where("nonce", ">=", scope.from)
    .where(sql<boolean>`status = 'signed'`)
    .execute();
}

/**
 * Reopens the last closed transaction of each nonce in a range, and returns these nonces. One whose bytes were deleted
 * cannot be sent again: it is lost instead, which frees its nonce.
 */
export async function reopenOutgoing(
  db: Db,
  scope: { chain: Caip2; sender: string; from: bigint; below: bigint },
): Promise<bigint[]> {
  const { rows } = await sql<{ nonce: bigint; status: string }>`
    update outgoing_transaction set status = case when purged_at is null then 'signed' else 'lost' end,
      mined_chain_tx = null, mined_block_number = null, closed_at = case when purged_at is null then null else closed_at end
    where id in (
      select max(id) from outgoing_transaction
      where chain = ${scope.chain} and sender = ${scope.sender} and nonce >= ${scope.from} and nonce < ${scope.below}
      group by nonce having bool_and(status <> 'signed'))
    returning nonce, status`.execute(db.root);
  return rows.filter(({ status }) => status === "signed").map(({ nonce }) => nonce);
}

/**
 * Deletes the signed bytes and the call data of closed transactions. The database refuses it while a settlement waits
 * for one.
 */
export async function deleteOutgoingBytes(tx: Tx, { ids, at }: { ids: readonly bigint[]; at: Date }): Promise<void> {
  await sql`
    update outgoing_transaction set purged_at = ${at}, data = case when data is null then null else '' end
    where id = any(${array(ids, "int8")})`.execute(tx);
  await sql`delete from outgoing_attempt where outgoing_id = any(${array(ids, "int8")})`.execute(tx);
}

/** Raises the next nonce to at least the chain's, after a foreign use of the account. */
export async function raiseNextNonce(
  db: Db,
  account: { chain: Caip2; address: string; nextNonce: bigint },
): Promise<void> {
  await db.root
    .updateTable("gas_account")
    .set({ next_nonce: account.nextNonce })
    .where("chain", "=", account.chain)
    .where("address", "=", account.address)
    .where("next_nonce", "<", account.nextNonce)
    .execute();
}
