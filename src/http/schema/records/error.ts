import { recordSchema } from "../jsonSchema.ts";
import { idSchema } from "../values.ts";

/** What every error answers with, whatever its status. */
export const errorEnvelope = recordSchema("What every error answers with.", {
  error: {
    type: "object",
    required: ["code", "message", "request_id", "docs", "retryable"],
    properties: {
      code: { type: "string", description: "Compare this. A code keeps its meaning for ever; new ones may come." },
      message: { type: "string", description: "For people. It may change." },
      request_id: {
        ...idSchema("req"),
        description: "The same as the header Request-Id. Name it when you ask for help.",
      },
      docs: { type: "string", format: "uri", description: "The page about this code." },
      retryable: { type: "boolean", description: "Whether the same request may succeed later." },
      param: { type: "string", description: "The field, header or parameter at fault." },
      details: { type: "object", description: "More about this code, as its page tells.", additionalProperties: true },
    },
  },
});
