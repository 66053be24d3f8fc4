import type { FastifyRequest } from "fastify";
import type { IdempotentRequest } from "../idempotency/idempotentRequest.ts";
import type { FaultCode } from "../kernel/faults.ts";
import type { AccountRow } from "../merchant/store.ts";
import type { World } from "../world.ts";
import type { JsonSchema, Properties, FromSchema } from "./schema/jsonSchema.ts";
import type { QueryFromSchema } from "./schema/queryParser.ts";

/** A call that has passed every check. Query and body are as the operation's schemas say. */
export type ValidatedRequest<Body = unknown, Parameters = Readonly<Record<string, unknown>>> = {
  readonly account: AccountRow;
  /** The `{id}` of the path, decoded; empty where the path has none. */
  readonly id: string;
  readonly query: Parameters;
  /** The body's JSON; an empty object where none was sent. A null in it is the same as nothing. */
  readonly body: Body;
  /** Which call it is, where the operation takes an Idempotency-Key and one was given. */
  readonly idempotentRequest: IdempotentRequest | undefined;
};

export type OperationResult = {
  readonly status: 200 | 201 | 202;
  readonly body: object;
  /** It is the kept answer of an earlier call. */
  readonly isReplayed?: boolean;
};

/** What an operation answers with when all is well. */
type SuccessResponse = {
  readonly status: OperationResult["status"];
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: object;
};

/** The part of the reference that an operation stands in. */
export type OperationGroup = "Intents" | "Paying in" | "What happened";

/** What is known of an operation without calling it: the checks, the document and the reference are made of this. */
export type OperationSpec = {
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
  readonly acceptsIdempotencyKey?: boolean;
  /** A POST that may be sent again without a key: it does the same thing once or twice. */
  readonly isRetrySafe?: boolean;
  /** Calls in any 60 seconds per account. */
  readonly perMinute: number;
  /** A second limit in any 60 seconds, per account and `{id}`. */
  readonly perMinuteAndIntent?: number;
  /** What the caller is told when the database is away; internal_error when left out. */
  readonly unavailableFault?: FaultCode;
  /** Parameters of the query. Where one has a default, it is always given. */
  readonly query?: Properties;
  /** Of a POST. */
  readonly body?: JsonSchema;
  /** Bodies that it accepts, by a few words about each. */
  readonly bodyExamples?: Readonly<Record<string, object>>;
  readonly success: SuccessResponse;
  /** The codes that it answers with beside those that every operation has. */
  readonly faults: readonly FaultCode[];
};

/** One operation of the API: where it is found, how often it may be called, and what it does. */
export type Operation = OperationSpec & {
  /** Looks for the resource first, then works. Throws a Fault. */
  handle(world: World, given: ValidatedRequest): Promise<OperationResult>;
};

/** Gives `answer` the types that the operation's own schemas say. */
export function defineOperation<const Parameters extends Properties, const Body extends JsonSchema>(
  definition: Omit<OperationSpec, "query" | "body"> & {
    readonly query?: Parameters;
    readonly body?: Body;
    handle(
      world: World,
      given: ValidatedRequest<FromSchema<Body>, QueryFromSchema<Parameters>>,
    ): Promise<OperationResult>;
  },
): Operation {
  return definition;
}

/** Where an operation's record of itself hangs on a request, for the handler of errors. */
export type OperationRequest = FastifyRequest<{ Params: { id?: string } }>;
