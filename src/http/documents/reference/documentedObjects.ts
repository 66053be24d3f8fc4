import { COMPONENTS } from "../../schema/components.ts";
import type { JsonSchema } from "../../schema/jsonSchema.ts";

/** The objects that the reference shows. The levels of metadata are only how its schema counts them. */
export function listDocumentedObjects(): [name: string, schema: JsonSchema][] {
  return Object.entries(COMPONENTS).filter(([name]) => !name.startsWith("MetadataLevel"));
}
