import { sql } from "kysely";
import type { Logger } from "pino";
import type { Clock } from "../../kernel/clock.ts";
import { createPooledDatabase, type Db } from "../database.ts";
import { TransactionGuard } from "../transactionGuard.ts";
import { PooledDriver } from "./postgres.ts";

/** Reads from a copy that is further behind would surprise people. */
const LAG_MS_MAX = 30_000;
/** One statement a second asks how far the copy is, whatever is read there. */
const CHECK_MS = 1_000;
/** How long the copy is left alone after it failed. */
const SKIP_MS = 5_000;
const CONNECT_MS_MAX = 2_000;
/** Of an answer. A copy that left the network holds up no caller for longer. */
const ANSWER_MS_MAX = 10_000;

export type ReplicaOptions = {
  url: string;
  schema: string | undefined;
  /** The time of the primary. */
  clock: Clock;
  log: Logger;
};

/** A copy that may be read now. What is read there shows every commit until `asOf`, and perhaps later ones. */
export type UsableReplica = { db: Db; asOf: Date };

type Check = { asOf: Date; reason?: never } | { asOf?: never; reason: string };

/** A standby of the primary, for reads that may be some seconds old. It is never needed. */
export class Replica {
  readonly #db: Db;
  readonly #clock: Clock;
  readonly #log: Logger;
  #checking: Promise<Check> | undefined;
  #checked: { check: Check; atMs: number } | undefined;
  #skippedUntilMs = -Infinity;
  #reason: string | undefined;

  constructor({ url, schema, clock, log }: ReplicaOptions) {
    const guard = new TransactionGuard();
    const copy = { isCopy: true, connectTimeoutMs: CONNECT_MS_MAX, answerMsMax: ANSWER_MS_MAX };
    this.#db = createPooledDatabase(new PooledDriver({ url, schema, ...copy }, guard), guard);
    this.#clock = clock;
    this.#log = log;
  }

  /** Undefined while the copy is away, too far behind, or no copy. Never rejects. */
  async find(): Promise<UsableReplica | undefined> {
    const { asOf } = await this.check();
    return asOf === undefined ? undefined : { db: this.#db, asOf };
  }

  /** How far the copy is, or why it is not read. */
  async check(): Promise<Check> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#skippedUntilMs) return { reason: this.#reason ?? "" };
    if (this.#checked !== undefined && nowMs - this.#checked.atMs < CHECK_MS) return this.#judge(this.#checked.check);
    this.#checking ??= this.#ask().finally(() => {
      this.#checking = undefined;
    });
    return this.#judge(await this.#checking);
  }

  /** Leaves the copy alone for some seconds, because a read there failed. */
  skip(error: unknown): void {
    this.#skippedUntilMs = this.#clock.monotonicMs() + SKIP_MS;
    this.#report(error instanceof Error ? error.message : String(error));
  }

  async close(): Promise<void> {
    await this.#db.close();
  }

  async #ask(): Promise<Check> {
    try {
      const { rows } = await sql<{ isStandby: boolean; asOf: Date | null }>`
        select pg_is_in_recovery() as "isStandby", pg_last_xact_replay_timestamp() as "asOf"`.execute(this.#db.root);
      const { isStandby, asOf } = rows[0] ?? { isStandby: false, asOf: null };
      // A server that takes writes itself may be a former primary, whose last commits are lost.
      const check = isStandby && asOf !== null ? { asOf } : { reason: "it is no standby" };
      this.#checked = { check, atMs: this.#clock.monotonicMs() };
      return check;
    } catch (error) {
      this.skip(error);
      return { reason: this.#reason ?? "" };
    }
  }

  #judge(check: Check): Check {
    if (check.asOf === undefined) {
      this.#report(check.reason);
      return check;
    }
    const lagMs = this.#clock.now().getTime() - check.asOf.getTime();
    if (lagMs > LAG_MS_MAX) {
      const reason = `it is more than ${LAG_MS_MAX / 1_000} s behind`;
      this.#report(reason);
      return { reason };
    }
    if (this.#reason !== undefined) this.#log.info("the copy of the database is read again");
    this.#reason = undefined;
    return check;
  }

  #report(reason: string): void {
    if (this.#reason === undefined) this.#log.warn({ reason }, "the copy of the database is not read, the primary is");
    this.#reason = reason;
  }
}
