import type { FaultCode } from "../../kernel/faults.ts";

// The part of JSON Schema 2020-12 that our requests and answers need. Schemas are composed by value; where one of the named
// components stands inside another schema, the document and the validators refer to it by its name.

type TypeName = "string" | "integer" | "number" | "boolean" | "null" | "object" | "array";

export type JsonSchema = {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: TypeName | readonly TypeName[];
  readonly enum?: readonly (string | number | null)[];
  readonly const?: string | number | boolean;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  /** In characters, not in UTF-16 units. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** In the syntax of ECMAScript with the flag u. */
  readonly pattern?: string;
  readonly format?: "date-time" | "uri";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | number | boolean;
  readonly examples?: readonly unknown[];
  /** What the value's JSON may have at most, written without spaces. */
  readonly "x-maxBytes"?: number;
  /** How a refusal calls the characters that `pattern` lets through. */
  readonly "x-characters"?: string;
  /** How a refusal goes on after "must", where the schema's own words do not say it well. */
  readonly "x-must"?: string;
  /** The code that a violation answers with; invalid_request when left out. */
  readonly "x-error-code"?: FaultCode;
  /** The field that a violation names, where the schema is about several. */
  readonly "x-param"?: string;
};

/** An object's named schemas. */
export type Properties = Readonly<Record<string, JsonSchema>>;

type TypeByName = {
  string: string;
  integer: number;
  number: number;
  boolean: boolean;
  null: null;
  object: object;
  array: readonly unknown[];
};

/** The values of a schema that is known as a constant. What it does not say is unknown. */
export type FromSchema<S> = S extends { enum: readonly (infer Value)[] }
  ? Value
  : S extends { const: infer Value }
    ? Value
    : S extends { oneOf: readonly (infer Branch)[] }
      ? FromEachSchema<Branch>
      : S extends { properties: infer Inner }
        ? FromProperties<Inner, RequiredNames<S>> | NullIfNullable<S>
        : S extends { items: infer Item }
          ? FromSchema<Item>[] | NullIfNullable<S>
          : S extends { type: infer Type }
            ? FromTypeName<Type>
            : unknown;

type FromEachSchema<Branch> = Branch extends unknown ? FromSchema<Branch> : never;
type FromTypeName<Type> = Type extends keyof TypeByName
  ? TypeByName[Type]
  : Type extends readonly (keyof TypeByName)[]
    ? TypeByName[Type[number]]
    : never;
type RequiredNames<S> = S extends { required: readonly (infer Name)[] } ? Name : never;
type NullIfNullable<S> = S extends { type: readonly (infer Type)[] } ? ("null" extends Type ? null : never) : never;
type FromProperties<Inner, Required> = {
  [Name in keyof Inner as Name extends Required ? Name : never]: FromSchema<Inner[Name]>;
} & {
  [Name in keyof Inner as Name extends Required ? never : Name]?: FromSchema<Inner[Name]> | undefined;
};

/** The same schema, and null. */
export function nullable<const S extends JsonSchema & { type: TypeName }>(
  schema: S,
): Omit<S, "type"> & { readonly type: readonly [S["type"], "null"] } {
  return { ...schema, type: [schema.type, "null"] };
}

/** An answer's object: it has all of its fields always, and may have more in a later version. */
export function recordSchema<const P extends Properties>(
  description: string,
  properties: P,
): {
  readonly type: "object";
  readonly description: string;
  readonly properties: P;
  readonly required: (keyof P & string)[];
} {
  return { type: "object", description, properties, required: Object.keys(properties) };
}
