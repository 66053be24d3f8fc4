import type { FastifyRequest } from "fastify";
import type { FaultCode } from "../kernel/faults.ts";
import type { AccountRow } from "../merchant/store.ts";
import type { World } from "../world.ts";

/** A call that has passed every check up to its body, which is JSON. Its shape is the operation's to read. */
export type Given = {
  readonly account: AccountRow;
  /** The `{id}` of the path, decoded; empty where the path has none. */
  readonly id: string;
  readonly query: Query;
  /** The body's JSON; an empty object where none was sent. */
  readonly body: unknown;
};

export type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

export type Answer = { readonly status: 200 | 201 | 202; readonly body: object };

/** One operation of the API: where it is found, how often it may be called, and what it does. */
export type Operation = {
  readonly operationId: string;
  readonly method: "GET" | "POST";
  /** With `{id}` where an intent's id stands. */
  readonly path: string;
  /** Calls in any 60 seconds per account. */
  readonly perMinute: number;
  /** A second limit in any 60 seconds, per account and `{id}`. */
  readonly perMinuteAndIntent?: number;
  /** What the caller is told when the database is away; internal_error when left out. */
  readonly whenUnavailable?: FaultCode;
  /** Reads the shape first, then the resource, then works. Throws a Fault. */
  answer(world: World, given: Given): Promise<Answer>;
};

/** Where an operation's record of itself hangs on a request, for the handler of errors. */
export type OperationRequest = FastifyRequest<{ Params: { id?: string } }>;
