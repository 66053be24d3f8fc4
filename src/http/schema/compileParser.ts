import { Ajv2020 } from "ajv/dist/2020.js";
import { componentSchemas, referenceComponents } from "./components.ts";
import type { JsonSchema, FromSchema } from "./jsonSchema.ts";
import { toValidationFault } from "./validationFault.ts";

const ANNOTATIONS = ["components", "x-characters", "x-must", "x-error-code", "x-param"];

// One compiler for all: its own schema of schemas is left out, because the schemas are constants and a test looks at them.
const compiler = new Ajv2020({
  strict: true,
  allowUnionTypes: true,
  ownProperties: true,
  verbose: true,
  // The optimised functions are no faster here, and are longer in the making, which delays the first answer.
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
 * Makes a schema's reader, once at the start: it returns what it was given, or throws the fault of the first thing that is wrong
 * with it. No more than the first is looked for, so that a hostile body costs no more than an honest one. `whole` is how a
 * message calls the value itself.
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
