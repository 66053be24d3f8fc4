import { faultRows } from "../../src/kernel/faults.ts";

const RESPONSE_HEAD = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n([\s\S]*?)\r\n\r\n/;
/** 5xx codes that report a state of the world, not a failure on the request. */
const EXPECTED_5XX: readonly string[] = ["source_inbox_not_active", "customer_not_bound"];

/** Stack frames, source paths and database error texts. */
const INTERNAL_DETAILS =
  /\\n {4}at |node:internal|file:\/\/|\/src\/\w|node_modules|SQLSTATE|violates \w+ constraint|\bselect .{1,80} from "/;

export type AnswerCheck = { status: number | undefined; body: string; failure: string | undefined };

/** Checks the first answer on a connection: envelope, code, request id and absence of internal details. */
export function checkAnswer(text: string, isAnswered: boolean): AnswerCheck {
  const head = RESPONSE_HEAD.exec(text.replace(/^(?:HTTP\/1\.1 1\d\d [\s\S]*?\r\n\r\n)+/, ""));
  if (head === null)
    return { status: undefined, body: "", failure: isAnswered ? `no answer: ${text.slice(0, 200)}` : undefined };
  const status = Number(head[1]);
  const leak = status >= 400 && INTERNAL_DETAILS.test(text) ? "it reveals internal details" : undefined;
  const body = bodyOf(text, head[0]);
  return { status, body, failure: leak ?? checkErrorEnvelope(status, { headers: head[2] ?? "", body }) };
}

function bodyOf(text: string, head: string): string {
  const rest = text.slice(text.indexOf(head) + head.length);
  const length = /content-length: (\d+)/i.exec(head)?.[1];
  return length === undefined ? rest : Buffer.from(rest).subarray(0, Number(length)).toString();
}

function checkErrorEnvelope(status: number, { headers, body }: { headers: string; body: string }): string | undefined {
  if (!/^request-id: req_[0-9a-z]{26}\r?$/im.test(headers)) return "no Request-Id";
  const type = /content-type: ([^\r\n]*)/i.exec(headers)?.[1] ?? "";
  if (status < 400) return undefined;
  if (!type.startsWith("application/json")) return type.startsWith("text/html") ? undefined : `its type is ${type}`;
  let parsed: { error?: { code?: string; message?: string; request_id?: string; docs?: string } };
  try {
    parsed = JSON.parse(body);
  } catch {
    // The answer to HEAD has a content-length but no body.
    return body === "" ? undefined : `a body that is not JSON: ${body.slice(0, 200)}`;
  }
  const { code = "", message, request_id: requestId, docs } = parsed.error ?? {};
  const row = Object.hasOwn(faultRows, code) ? faultRows[code as keyof typeof faultRows] : undefined;
  if (row === undefined) return `an unknown code: ${body.slice(0, 200)}`;
  if (row.status !== status) return `${code} with status ${status}`;
  if (typeof message !== "string" || message === "") return "no message";
  if (!new RegExp(`request-id: ${requestId}`, "i").test(headers)) return "another request id in the header";
  if (docs?.endsWith(`/docs/errors/${code}`) !== true) return `docs is ${docs}`;
  if (status >= 500 && !EXPECTED_5XX.includes(code)) return `${status} ${code}`;
  return undefined;
}
