import type { ErrorObject } from "ajv/dist/2020.js";
import { Fault } from "../../kernel/faults.ts";
import { closestMatch } from "../../kernel/text/closestMatch.ts";
import type { JsonSchema } from "./jsonSchema.ts";
import { describeSchema } from "./describeSchema.ts";

// Builds a fault from a schema violation. Its message names the field and the valid form.

/** A value that violates its schema. `subject` names the value itself in messages. */
export type Violation = { schema: JsonSchema; subject: string; value: unknown; errors: readonly ErrorObject[] };

const NAME_CHARACTERS_MAX = 80;

export function toValidationFault(violated: Violation): Fault {
  const { schema, value, errors } = violated;
  const branches = schema.oneOf;
  if (branches === undefined || !isObject(value)) return toSchemaFault(violated, errors);
  return toOneOfFault(violated, { branches, value });
}

/** Of several alternatives, assumes the first with a field in the value. */
function toOneOfFault(
  violated: Violation,
  { branches, value }: { branches: readonly JsonSchema[]; value: Record<string, unknown> },
): Fault {
  const known = [...new Set(branches.flatMap(({ properties }) => Object.keys(properties ?? {})))];
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  if (unknown !== undefined) return unknownFieldFault(unknown, known);
  const needs = branches.map(({ required = [] }) => required);
  const matching = branches.filter(({ required = [] }) => required.some((field) => (value[field] ?? null) !== null));
  const [first = ""] = needs[0] ?? [];
  const choices = needs.map(joinNames).join(", or ");
  if (matching.length === 0) return invalidParam(first, `is required: send either ${choices}`);
  const [intended] = matching;
  if (intended === undefined || matching.length > 1)
    return invalidParam(first, `excludes the other fields: send either ${choices}`);
  const missing = (intended.required ?? []).find((field) => (value[field] ?? null) === null);
  if (missing !== undefined) return invalidParam(missing, `is required: send either ${choices}`);
  const prefix = `#/oneOf/${branches.indexOf(intended)}/`;
  const errors = violated.errors.filter(({ schemaPath }) => schemaPath.startsWith(prefix));
  return toSchemaFault({ ...violated, schema: intended }, errors);
}

function toSchemaFault({ schema, subject, value }: Violation, errors: readonly ErrorObject[]): Fault {
  const [error] = errors;
  if (error === undefined) return new Fault("invalid_request");
  const location = locateSchema(schema, error.instancePath);
  const failedSchema = (error.parentSchema ?? {}) as JsonSchema;
  const code = failedSchema["x-error-code"];
  const param = failedSchema["x-param"] ?? location.param;
  if (code !== undefined) return new Fault(code, param === undefined ? {} : { param });
  if (error.keyword === "additionalProperties" && location.isDeclared) {
    const known = Object.keys(location.schema.properties ?? {});
    return unknownFieldFault(String(error.params["additionalProperty"]), known, location.param);
  }
  if (error.keyword === "required" && location.isDeclared) {
    return invalidParam(missingPath(error, location), `is required${describeSiblings(location.schema, error)}`);
  }
  return invalidParam(location.param, describeConstraint(location, value), subject);
}

/** The schema at a path, as far as the path consists of declared names. */
type SchemaLocation = { schema: JsonSchema; param: string | undefined; isDeclared: boolean; isRequired: boolean };

function locateSchema(root: JsonSchema, instancePath: string): SchemaLocation {
  let schema = root;
  let isRequired = false;
  const names: string[] = [];
  for (const name of instancePath.split("/").slice(1)) {
    const inner = Object.hasOwn(schema.properties ?? {}, name) ? schema.properties?.[name] : undefined;
    if (inner === undefined) return { schema, param: names.join("."), isDeclared: false, isRequired };
    isRequired = schema.required?.includes(name) === true;
    names.push(name);
    schema = inner;
  }
  const param = names.length === 0 ? undefined : names.join(".");
  return { schema, param, isDeclared: schema.properties !== undefined, isRequired };
}

function missingPath({ params }: ErrorObject, { param }: SchemaLocation): string {
  const missing = String(params["missingProperty"]);
  return param === undefined ? missing : `${param}.${missing}`;
}

function describeSiblings({ required = [] }: JsonSchema, { params }: ErrorObject): string {
  const others = required.filter((field) => field !== params["missingProperty"]);
  return others.length === 0 ? "" : ` with ${joinNames(others)}`;
}

function describeConstraint({ schema, param, isRequired }: SchemaLocation, value: unknown): string {
  const member = param?.split(".").reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);
  const must = `must ${schema["x-must"] ?? `be ${describeSchema(schema)}`}`;
  return isRequired && member === null ? `is required and ${must}` : must;
}

export function invalidParam(param: string | undefined, constraint: string, subject = "The body"): Fault {
  const message = `${param ?? subject} ${constraint}.`;
  return new Fault("invalid_request", param === undefined ? { message } : { param, message });
}

function unknownFieldFault(unknown: string, known: readonly string[], path?: string): Fault {
  return unknownNameFault(unknown, known, { kind: "field", path });
}

/**
 * A mistyped name would otherwise have no effect: a payout wallet that is not used, a filter that lists other orders.
 */
export function unknownNameFault(
  unknown: string,
  known: readonly string[],
  { kind, path }: { kind: "field" | "query parameter"; path?: string | undefined },
): Fault {
  const name = unknown.slice(0, NAME_CHARACTERS_MAX);
  const param = path === undefined ? name : `${path}.${name}`;
  const suggestion = closestMatch(name, known);
  const all = known.length === 0 ? `The request has no ${kind}s.` : `The ${kind}s are ${known.join(", ")}.`;
  const remedy = suggestion === undefined ? all : `Did you mean ${suggestion}?`;
  const details = suggestion === undefined ? { known } : { known, nearest: suggestion };
  const message = `${JSON.stringify(param)} is not a ${kind} of this request. ${remedy}`;
  return new Fault("invalid_request", { param, message, details });
}

function joinNames(names: readonly string[]): string {
  const head = names.slice(0, -1).join(", ");
  return [head, names.at(-1)].filter((part) => part !== undefined && part !== "").join(" and ");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
