import type { ErrorObject } from "ajv/dist/2020.js";
import { Fault } from "../../kernel/faults.ts";
import { nearest } from "../../kernel/nearest.ts";
import type { JsonSchema } from "./jsonSchema.ts";
import { wanted } from "./wanted.ts";

// What a violated schema has to say to a caller: the field, and what would be right.

/** A value that its schema refuses, and why. `whole` is how a message calls the value itself. */
export type Violated = { schema: JsonSchema; whole: string; value: unknown; errors: readonly ErrorObject[] };

const NAME_CHARACTERS_MAX = 80;

export function faultOfViolation(violated: Violated): Fault {
  const { schema, value, errors } = violated;
  const branches = schema.oneOf;
  if (branches === undefined || !isObject(value)) return faultOf(violated, errors);
  return faultOfBranches(violated, { branches, value });
}

/** Of alternatives the one is meant of which something was given. */
function faultOfBranches(
  violated: Violated,
  { branches, value }: { branches: readonly JsonSchema[]; value: Record<string, unknown> },
): Fault {
  const known = [...new Set(branches.flatMap(({ properties }) => Object.keys(properties ?? {})))];
  const unknown = Object.keys(value).find((field) => !known.includes(field));
  if (unknown !== undefined) return unknownField(unknown, known);
  const needs = branches.map(({ required = [] }) => required);
  const touched = branches.filter(({ required = [] }) => required.some((field) => (value[field] ?? null) !== null));
  const [first = ""] = needs[0] ?? [];
  const choices = needs.map(inWords).join(", or ");
  if (touched.length === 0) return invalid(first, `is required: a body names ${choices}`);
  const [meant] = touched;
  if (meant === undefined || touched.length > 1) return invalid(first, `must stand alone: a body names ${choices}`);
  const missing = (meant.required ?? []).find((field) => (value[field] ?? null) === null);
  if (missing !== undefined) return invalid(missing, `is required: a body names ${choices}`);
  const prefix = `#/oneOf/${branches.indexOf(meant)}/`;
  const errors = violated.errors.filter(({ schemaPath }) => schemaPath.startsWith(prefix));
  return faultOf({ ...violated, schema: meant }, errors);
}

function faultOf({ schema, whole, value }: Violated, errors: readonly ErrorObject[]): Fault {
  const [error] = errors;
  if (error === undefined) return new Fault("invalid_request");
  const place = findPlace(schema, error.instancePath);
  const violated = (error.parentSchema ?? {}) as JsonSchema;
  const code = violated["x-error-code"];
  const param = violated["x-param"] ?? place.param;
  if (code !== undefined) return new Fault(code, param === undefined ? {} : { param });
  if (error.keyword === "additionalProperties" && place.isDeclared) {
    const known = Object.keys(place.schema.properties ?? {});
    return unknownField(String(error.params["additionalProperty"]), known, place.param);
  }
  if (error.keyword === "required" && place.isDeclared) {
    return invalid(missingIn(error, place), `is required${besideOthers(place.schema, error)}`);
  }
  return invalid(place.param, `must ${mustOf(place, value)}`, whole);
}

/** What stands at a path, as far as its names are the schema's own and not the caller's. */
type Place = { schema: JsonSchema; param: string | undefined; isDeclared: boolean; isRequired: boolean };

function findPlace(root: JsonSchema, instancePath: string): Place {
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

function missingIn({ params }: ErrorObject, { param }: Place): string {
  const missing = String(params["missingProperty"]);
  return param === undefined ? missing : `${param}.${missing}`;
}

function besideOthers({ required = [] }: JsonSchema, { params }: ErrorObject): string {
  const others = required.filter((field) => field !== params["missingProperty"]);
  return others.length === 0 ? "" : ` beside ${inWords(others)}`;
}

function mustOf({ schema, param, isRequired }: Place, value: unknown): string {
  const given = param?.split(".").reduce<unknown>((inner, name) => (isObject(inner) ? inner[name] : undefined), value);
  if (isRequired && given === null) return `be given, as ${wanted(schema)}`;
  return schema["x-must"] ?? `be ${wanted(schema)}`;
}

export function invalid(param: string | undefined, must: string, whole = "The body"): Fault {
  const message = `${param ?? whole} ${must}.`;
  return new Fault("invalid_request", param === undefined ? { message } : { param, message });
}

function unknownField(unknown: string, known: readonly string[], path?: string): Fault {
  const name = unknown.slice(0, NAME_CHARACTERS_MAX);
  const param = path === undefined ? name : `${path}.${name}`;
  const meant = nearest(name, known);
  const all = known.length === 0 ? "It has none." : `The fields are ${known.join(", ")}.`;
  const remedy = meant === undefined ? all : `Did you mean ${meant}?`;
  const details = meant === undefined ? { known } : { known, nearest: meant };
  const message = `${JSON.stringify(param)} is no field of this request. ${remedy}`;
  return new Fault("invalid_request", { param, message, details });
}

function inWords(names: readonly string[]): string {
  const head = names.slice(0, -1).join(", ");
  return [head, names.at(-1)].filter((part) => part !== undefined && part !== "").join(" and ");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
