import { COMPONENTS } from "../../schema/components.ts";
import type { JsonSchema } from "../../schema/jsonSchema.ts";

/**
 * The objects in the reference. The nested metadata levels are left out, because they exist only to limit the depth.
 */
export function listDocumentedObjects(): [name: string, schema: JsonSchema][] {
  return Object.entries(COMPONENTS).filter(([name]) => !name.startsWith("MetadataLevel"));
}
