import type { FastifyRequest } from "fastify";
import type { IdempotentRequest } from "../idempotency/idempotentRequest.ts";
import type { FaultCode } from "../kernel/faults.ts";
import type { AccountRow } from "../merchant/store.ts";
import type { World } from "../world.ts";
import type { FeedToStream } from "./feed/feedStreams.ts";
import type { JsonSchema, Properties, FromSchema } from "./schema/jsonSchema.ts";
import type { QueryFromSchema } from "./schema/queryParser.ts";

/** A request that has passed every check. Its query and body match the operation's schemas. */
export type ValidatedRequest<Body = unknown, Parameters = Readonly<Record<string, unknown>>> = {
  readonly account: AccountRow;
  /** The scopes of the key. */
  readonly scopes: readonly string[];
  /** Computes the rate limits of every operation. Few requests ask for them. */
  readonly limits: () => readonly RateLimit[];
  /** The decoded `{id}` of the path; empty when the path has none. */
  readonly id: string;
  readonly query: Parameters;
  /** The parsed body; an empty object when none was sent. A null field means the same as a missing one. */
  readonly body: Body;
  /** Set when the operation takes an Idempotency-Key and the caller sent one. */
  readonly idempotentRequest: IdempotentRequest | undefined;
  /** Of a stream that continues: the Last-Event-ID header. */
  readonly lastEventId: string | undefined;
};

export type OperationResult =
  | {
      readonly status: 200 | 201 | 202;
      readonly body: object;
      /** Whether this is the stored response of an earlier request. */
      readonly isReplayed?: boolean;
      /** Of an answer from the copy of the database: the time until which it shows every commit. */
      readonly asOf?: Date | undefined;
    }
  /** The answer is a stream of server-sent events. */
  | { readonly status: 200; readonly stream: Omit<FeedToStream, "checkCaller"> };

/** The response of a successful request. */
type SuccessResponse = {
  readonly status: OperationResult["status"];
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example: object;
};

/** A limit of requests in any 60 seconds. */
export type RateLimit = {
  readonly operationId: string;
  readonly perMinute: number;
  readonly perMinuteAndIntent: number | null;
};

/** The group of an operation in the reference. */
export type OperationGroup =
  | "Intents"
  | "Deposit addresses"
  | "Deposits and settlements"
  | "Account"
  | "Events"
  | "Webhooks";

/** The static description of an operation. Checks, OpenAPI document and reference are generated from it. */
export type OperationSpec = {
  readonly operationId: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path, with `{id}` for the id of an intent, unless `idOf` names something else. */
  readonly path: string;
  readonly idOf?: "event" | "webhook endpoint";
  readonly group: OperationGroup;
  /** A short imperative phrase. */
  readonly summary: string;
  /** Markdown paragraphs. */
  readonly description: string;
  /** Whether this operation is an addition of this service to the common interface. */
  readonly isExtension?: boolean;
  /** The scopes of which the key needs one; payment_intents:create by default. */
  readonly scopes?: readonly [string, ...string[]];
  /** Whether it takes an Idempotency-Key. */
  readonly acceptsIdempotencyKey?: boolean;
  /** Whether a request other than a GET may be repeated without a key, because a second run changes nothing. */
  readonly isRetrySafe?: boolean;
  /** The limit of requests in any 60 seconds, per account. */
  readonly perMinute: number;
  /** A second limit of requests in any 60 seconds, per account and `{id}`. */
  readonly perMinuteAndIntent?: number;
  /** Whether a success is a stream of server-sent events, whose data has the schema of `success`. */
  readonly isStream?: boolean;
  /** Whether the copy of the database may answer it. */
  readonly mayReadReplica?: boolean;
  /** The fault to answer with while the database is unavailable; internal_error by default. */
  readonly unavailableFault?: FaultCode;
  /** The query parameters. A parameter with a default is always present after parsing. */
  readonly query?: Properties;
  /** The schema of the body; every operation except a GET has one. */
  readonly body?: JsonSchema;
  /** Example bodies, by a short title. */
  readonly bodyExamples?: Readonly<Record<string, object>>;
  readonly success: SuccessResponse;
  /** The operation's own codes, besides those common to all operations. */
  readonly faults: readonly FaultCode[];
};

/** One operation of the API: its description and its handler. */
export type Operation = OperationSpec & {
  /** Finds the resource first, then does the work. Throws a Fault. */
  handle(world: World, request: ValidatedRequest): Promise<OperationResult>;
};

/** Types `handle` by the operation's own schemas. */
export function defineOperation<const Parameters extends Properties, const Body extends JsonSchema>(
  definition: Omit<OperationSpec, "query" | "body"> & {
    readonly query?: Parameters;
    readonly body?: Body;
    handle(
      world: World,
      request: ValidatedRequest<FromSchema<Body>, QueryFromSchema<Parameters>>,
    ): Promise<OperationResult>;
  },
): Operation {
  return definition;
}

/** A request of an operation's route. The error handler reads the operation from the route's config. */
export type OperationRequest = FastifyRequest<{ Params: { id?: string } }>;
