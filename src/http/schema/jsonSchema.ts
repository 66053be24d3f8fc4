import type { FaultCode } from "../../kernel/faults.ts";

// The subset of JSON Schema 2020-12 that our requests and responses use. Schemas are composed by value; the document
// and the validators replace named components with references.

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
  /** ECMAScript syntax with the u flag. */
  readonly pattern?: string;
  readonly format?: "date-time" | "uri";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: string | number | boolean;
  readonly examples?: readonly unknown[];
  /** The most bytes of the value's JSON, without whitespace. */
  readonly "x-maxBytes"?: number;
  /** What an absent field means, where that is no constant. */
  readonly "x-default"?: string;
  /** The name of the characters that `pattern` allows, for messages. */
  readonly "x-characters"?: string;
  /** The text after "must" in a message, when the schema's own keywords do not describe it well. */
  readonly "x-must"?: string;
  /** The code of a violation; invalid_request by default. */
  readonly "x-error-code"?: FaultCode;
  /** The field that a violation names, for a schema over several fields. */
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

/** The TypeScript type of a constant schema's values. Anything undescribed is unknown. */
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

/** The schema, or null. */
export function nullable<const S extends JsonSchema & { type: TypeName }>(
  schema: S,
): Omit<S, "type"> & { readonly type: readonly [S["type"], "null"] } {
  return { ...schema, type: [schema.type, "null"] };
}

/** A response object. All of its fields are always present; later versions may add more. */
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
