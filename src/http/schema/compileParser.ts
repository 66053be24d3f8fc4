import { Ajv2020 } from "ajv/dist/2020.js";
import { componentSchemas, referenceComponents } from "./components.ts";
import type { JsonSchema, FromSchema } from "./jsonSchema.ts";
import { toValidationFault } from "./validationFault.ts";

const ANNOTATIONS = ["components", "x-characters", "x-must", "x-default", "x-error-code", "x-param"];

// One compiler for all schemas. It skips the meta-schema, because the schemas are constants and a test validates them.
const compiler = new Ajv2020({
  strict: true,
  allowUnionTypes: true,
  ownProperties: true,
  verbose: true,
  // Code optimisation brings no speed here and takes longer to compile, which delays the first response.
  code: { optimize: false },
  meta: false,
  validateSchema: false,
  formats: { "date-time": true, uri: true },
});
compiler.addVocabulary(ANNOTATIONS);
compiler.addKeyword({
  keyword: "x-maxBytes",
  schemaType: "number",
  validate: (bytesMax: number, value: unknown) => Buffer.byteLength(JSON.stringify(value)) <= bytesMax,
});

/**
 * Compiles a schema to a parser, once at start. The parser returns its input, or throws the fault of the first
 * violation. It stops at the first, so that a hostile body costs no more than a valid one. `subject` names the value
 * itself in messages.
 */
export function compileParser<const S extends JsonSchema>(
  schema: S,
  subject = "The body",
): (value: unknown) => FromSchema<S> {
  const validate = compiler.compile({ ...referenceComponents(schema), components: { schemas: componentSchemas() } });
  return (value) => {
    if (!validate(value)) throw toValidationFault({ schema, subject, value, errors: validate.errors ?? [] });
    return value as FromSchema<S>;
  };
}
