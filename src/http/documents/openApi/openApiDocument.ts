import { API_VERSIONS } from "../../checks/checkVersion.ts";
import { OPERATIONS } from "../../operationList.ts";
import { componentSchemas } from "../../schema/components.ts";
import { buildErrorResponse, COMMON_STATUSES } from "./errorResponses.ts";
import { RESPONSE_HEADERS } from "./responseHeaders.ts";
import type { JsonObject } from "./jsonObject.ts";
import { GROUP_DESCRIPTIONS, buildOperationObject, requestBodySchemas } from "./operationObject.ts";
import { PARAMETERS } from "./parameters.ts";
import { buildWebhooks } from "./webhooksObject.ts";

const DESCRIPTION = `Payment intents for stablecoins: each has a deposit inbox that a payer funds by a transfer, and that can only be emptied to the
merchant's own wallet.

Bodies are JSON. Amounts are strings of whole numbers in a token's smallest units; \`priceUnits\` is a number in millionths. An explicit \`null\`
means the same as a missing optional field, except in a PATCH, where it restores a default. Unknown fields are refused. Operations marked as extensions are specific to this service.`;

/** Builds the OpenAPI 3.1 document from the schemas that validate requests. `baseUrl` has no trailing slash. */
export function buildOpenApiDocument(baseUrl: string): JsonObject {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const operation of OPERATIONS) {
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = buildOperationObject(operation, baseUrl);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Tributary",
      version: API_VERSIONS.at(-1),
      description: DESCRIPTION,
      contact: { name: "Guides and reference", url: `${baseUrl}/docs` },
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: baseUrl }],
    externalDocs: { description: "The reference for people, with a page for every error", url: `${baseUrl}/docs` },
    tags: Object.entries(GROUP_DESCRIPTIONS).map(([name, description]) => ({ name, description })),
    security: [],
    paths,
    webhooks: buildWebhooks(),
    components: {
      schemas: { ...componentSchemas(), ...requestBodySchemas(OPERATIONS) },
      parameters: PARAMETERS,
      headers: RESPONSE_HEADERS,
      responses: Object.fromEntries(
        COMMON_STATUSES.map((status) => [`Error${status}`, buildErrorResponse(status, { baseUrl })]),
      ),
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "trib_<environment>_<key id>_<64 hexadecimal digits>",
          description:
            "The secret key of an account. Keep it on your server. The named roles are the scopes that a key needs.",
        },
      },
    },
  };
}
