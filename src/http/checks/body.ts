import type { IncomingHttpHeaders } from "node:http";
import { Fault } from "../../kernel/faults.ts";
import { parseJson } from "../body/json.ts";

/** The body's JSON; an empty body is an empty object, whatever it calls itself. Throws invalid_content_type or invalid_json. */
export function checkBody(headers: IncomingHttpHeaders, bytes: Uint8Array): unknown {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity") throw new Fault("invalid_content_type", { param: "Content-Encoding" });
  if (bytes.length === 0) return {};
  if (!isJson(headers["content-type"] ?? "")) throw new Fault("invalid_content_type", { param: "Content-Type" });
  return parseJson(bytes);
}

/** application/json, with no character set but UTF-8. */
function isJson(contentType: string): boolean {
  const [type = "", ...parameters] = contentType.split(";").map((part) => part.trim().toLowerCase());
  if (type !== "application/json") return false;
  const charset = parameters.find((parameter) => parameter.startsWith("charset="));
  return charset === undefined || /^charset="?utf-?8"?$/.test(charset);
}
