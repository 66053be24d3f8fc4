import type { FastifyRequest } from "fastify";
import type { Call } from "../idempotency/call.ts";
import type { FaultCode } from "../kernel/faults.ts";
import type { AccountRow } from "../merchant/store.ts";
import type { World } from "../world.ts";
import type { JsonSchema, Properties, TypeOf } from "./schema/jsonSchema.ts";
import type { QueryOf } from "./schema/query.ts";

/** A call that has passed every check. Query and body are as the operation's schemas say. */
export type Given<Body = unknown, Parameters = Readonly<Record<string, unknown>>> = {
  readonly account: AccountRow;
  /** The `{id}` of the path, decoded; empty where the path has none. */
  readonly id: string;
  readonly query: Parameters;
  /** The body's JSON; an empty object where none was sent. A null in it is the same as nothing. */
  readonly body: Body;
  /** Which call it is, where the operation takes an Idempotency-Key and one was given. */
  readonly call: Call | undefined;
};

export type Answer = {
  readonly status: 200 | 201 | 202;
  readonly body: object;
  /** It is the kept answer of an earlier call. */
  readonly isReplayed?: boolean;
};

/** What an operation answers with when all is well. */
type Success = {
  readonly status: Answer["status"];
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: object;
};

/** The part of the reference that an operation stands in. */
export type OperationGroup = "Intents" | "Paying in" | "What happened";

/** What is known of an operation without calling it: the checks, the document and the reference are made of this. */
export type OperationFacts = {
  readonly operationId: string;
  readonly method: "GET" | "POST";
  /** With `{id}` where an intent's id stands. */
  readonly path: string;
  readonly group: OperationGroup;
  /** An imperative of a few words. */
  readonly summary: string;
  /** Paragraphs in Markdown. */
  readonly description: string;
  /** Added by this service; other services with the same interface do not have it. */
  readonly isExtension?: boolean;
  /** It takes an Idempotency-Key. */
  readonly isIdempotent?: boolean;
  /** A POST that may be sent again without a key: it does the same thing once or twice. */
  readonly isRepeatable?: boolean;
  /** Calls in any 60 seconds per account. */
  readonly perMinute: number;
  /** A second limit in any 60 seconds, per account and `{id}`. */
  readonly perMinuteAndIntent?: number;
  /** What the caller is told when the database is away; internal_error when left out. */
  readonly whenUnavailable?: FaultCode;
  /** Parameters of the query. Where one has a default, it is always given. */
  readonly query?: Properties;
  /** Of a POST. */
  readonly body?: JsonSchema;
  /** Bodies that it accepts, by a few words about each. */
  readonly bodyExamples?: Readonly<Record<string, object>>;
  readonly success: Success;
  /** The codes that it answers with beside those that every operation has. */
  readonly faults: readonly FaultCode[];
};

/** One operation of the API: where it is found, how often it may be called, and what it does. */
export type Operation = OperationFacts & {
  /** Looks for the resource first, then works. Throws a Fault. */
  answer(world: World, given: Given): Promise<Answer>;
};

/** Gives `answer` the types that the operation's own schemas say. */
export function operation<const Parameters extends Properties, const Body extends JsonSchema>(
  declared: Omit<OperationFacts, "query" | "body"> & {
    readonly query?: Parameters;
    readonly body?: Body;
    answer(world: World, given: Given<TypeOf<Body>, QueryOf<Parameters>>): Promise<Answer>;
  },
): Operation {
  return declared;
}

/** Where an operation's record of itself hangs on a request, for the handler of errors. */
export type OperationRequest = FastifyRequest<{ Params: { id?: string } }>;
