import type { Selectable } from "kysely";
import type { Providers } from "../../../src/chain/providers.ts";
import { ProviderFailed, type TransactionProof } from "../../../src/chain/reader.ts";
import type { SenderWorld } from "../../../src/chain/sender.ts";
import type { Tx } from "../../../src/db/database.ts";
import type { OutgoingAttemptTable, OutgoingTransactionTable } from "../../../src/chain/outgoing/outgoingTables.ts";
import { hashOf } from "../chain/transaction.ts";
import type { OneShotBytes, OneShotCall } from "./oneShotBytes.ts";
import type { OneShotNode } from "./oneShotNode.ts";

/** The number of blocks in which signed bytes are valid. */
const LIFETIME_BLOCKS = 12n;
/** After this many expired attempts the transaction counts as lost. */
const ATTEMPTS_MAX = 5;
const OPEN_MAX = 100;
/** A block this deep is final on a chain without a `finalized` tag. */
const FINAL_DEPTH_WITHOUT_TAG = 1_024n;

type Attempt = Selectable<OutgoingAttemptTable>;
type Open = { transaction: Selectable<OutgoingTransactionTable>; attempts: Attempt[] };
type Signed = { raw: string; chainTx: string };

/** The stored transactions of a chain's payer. They wait only for a block. */
export class OneShotOutgoing {
  readonly #providers: Providers<OneShotNode>;
  readonly #payer: string;

  constructor(providers: Providers<OneShotNode>, payer: string) {
    this.#providers = providers;
    this.#payer = payer;
  }

  async store(tx: Tx, { call, head, at }: { call: OneShotCall; head: bigint; at: Date }): Promise<bigint> {
    const { id } = await tx
      .insertInto("outgoing_transaction")
      .values({
        chain: this.#providers.caip2,
        sender: this.#payer,
        nonce: null,
        recipient: null,
        data: null,
        gas_limit: null,
        status: "signed",
        mined_chain_tx: null,
        mined_block_number: null,
        created_at: at,
        closed_at: null,
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    const signed = this.#sign({ nth: `${id}.1`, call, lastBlock: head + LIFETIME_BLOCKS });
    await insertAttempt(tx, { outgoing_id: id, attempt: 1, signed, at });
    return id;
  }

  async process(world: SenderWorld): Promise<void> {
    const open = await listOpen(world, this.#providers.caip2);
    if (open.length === 0) return;
    const chainTxs = open.flatMap(({ attempts }) => attempts.map((attempt) => attempt.chain_tx));
    const { head, final, proofs } = await this.#providers.run(async (node) => ({
      head: (await node.head("latest")).number,
      final: await fetchFinal(node),
      proofs: await node.proofs(chainTxs),
    }));
    const proofOf = new Map(proofs.map((proof) => [proof.chainTx, proof]));
    for (const each of open) {
      const proof = each.attempts.map((attempt) => proofOf.get(attempt.chain_tx)).find((found) => found !== undefined);
      if (proof === undefined) await this.#send(world, each, head);
      else if (proof.blockNumber <= final) await close(world, each, proof);
    }
  }

  async #send(world: SenderWorld, { transaction, attempts }: Open, head: bigint): Promise<void> {
    const [newest] = attempts;
    if (newest === undefined) return;
    const { call, lastBlock } = JSON.parse(newest.raw) as OneShotBytes;
    let bytes = newest.raw;
    if (head >= BigInt(lastBlock)) {
      if (newest.attempt >= ATTEMPTS_MAX) return close(world, { transaction, attempts }, undefined);
      const attempt = newest.attempt + 1;
      const signed = this.#sign({ nth: `${transaction.id}.${attempt}`, call, lastBlock: head + LIFETIME_BLOCKS });
      const next = { outgoing_id: transaction.id, attempt, signed, at: world.clock.now() };
      if (!(await world.db.transaction((tx) => insertAttempt(tx, next)))) return;
      bytes = signed.raw;
    }
    await this.#providers.runAll((node) => node.send(bytes));
  }

  #sign({ nth, call, lastBlock }: { nth: string; call: OneShotCall; lastBlock: bigint }): Signed {
    const chain = this.#providers.caip2;
    const bytes: OneShotBytes = { chain, payer: this.#payer, nth, call, lastBlock: String(lastBlock) };
    const raw = JSON.stringify(bytes);
    return { raw, chainTx: hashOf("one-shot", raw) };
  }
}

async function fetchFinal(node: OneShotNode): Promise<bigint> {
  try {
    return (await node.head("finalized")).number;
  } catch (error) {
    if (!(error instanceof ProviderFailed) || error.kind !== "unknown_block") throw error;
    return (await node.head("latest")).number - FINAL_DEPTH_WITHOUT_TAG;
  }
}

async function listOpen({ db }: SenderWorld, chain: Providers["caip2"]): Promise<Open[]> {
  const transactions = await db.root
    .selectFrom("outgoing_transaction")
    .selectAll()
    .where("chain", "=", chain)
    .where("status", "=", "signed")
    .orderBy("id")
    .limit(OPEN_MAX)
    .execute();
  if (transactions.length === 0) return [];
  const attempts = await db.root
    .selectFrom("outgoing_attempt")
    .selectAll()
    .where(
      "outgoing_id",
      "in",
      transactions.map(({ id }) => id),
    )
    .orderBy("attempt", "desc")
    .execute();
  return transactions.map((transaction) => ({
    transaction,
    attempts: attempts.filter((attempt) => attempt.outgoing_id === transaction.id),
  }));
}

/** Returns false when another process stored that attempt. */
async function insertAttempt(
  tx: Tx,
  { signed, at, ...attempt }: { outgoing_id: bigint; attempt: number; signed: Signed; at: Date },
): Promise<boolean> {
  const inserted = await tx
    .insertInto("outgoing_attempt")
    .values({
      ...attempt,
      chain_tx: signed.chainTx,
      raw: signed.raw,
      max_fee_per_gas: null,
      max_priority_fee_per_gas: null,
      created_at: at,
      submitted_at: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning("attempt")
    .executeTakeFirst();
  return inserted !== undefined;
}

async function close({ db, clock }: SenderWorld, { transaction }: Open, proof: TransactionProof | undefined) {
  await db.root
    .updateTable("outgoing_transaction")
    .set({
      status: proof === undefined ? "lost" : proof.succeeded ? "mined" : "reverted",
      mined_chain_tx: proof?.chainTx ?? null,
      mined_block_number: proof?.blockNumber ?? null,
      closed_at: clock.now(),
    })
    .where("id", "=", transaction.id)
    .where("status", "=", "signed")
    .execute();
}
