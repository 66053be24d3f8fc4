import type { IncomingMessage } from "node:http";
import { Fault } from "../../kernel/faults.ts";
import { parseStrictJson } from "../body/strictJson.ts";
import { readHeaderValues } from "./readHeaderValues.ts";

/**
 * Parses the body as JSON. An empty body is an empty object, whatever its Content-Type. Throws invalid_content_type or
 * invalid_json.
 */
export function parseJsonBody(request: IncomingMessage, bytes: Uint8Array): unknown {
  const encoding = request.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity") throw new Fault("invalid_content_type", { param: "Content-Encoding" });
  if (bytes.length === 0) return {};
  const [contentType = "", ...others] = readHeaderValues(request, "content-type");
  if (others.length > 0 || !isJsonContentType(contentType))
    throw new Fault("invalid_content_type", { param: "Content-Type" });
  return parseStrictJson(bytes);
}

/** Whether the type is application/json, without a charset or with UTF-8. */
function isJsonContentType(contentType: string): boolean {
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  if (type !== "application/json") return false;
  const [charset, ...others] = parameters.filter((parameter) => /^charset\b/.test(parameter));
  return charset === undefined || (others.length === 0 && /^charset="?utf-?8"?$/.test(charset));
}
