import type { IncomingMessage } from "node:http";
import type { Credential } from "../../../intent/checkout/session.ts";
import { Fault } from "../../../kernel/faults.ts";
import { parseJsonBody } from "../../checks/parseJsonBody.ts";
import { readBody } from "../../checks/readBody.ts";
import type { SessionRequest } from "@tributary/checkout/checkoutState";
import { compileParser } from "../../schema/compileParser.ts";

/** Far above the size of a credential, because the caller is not authenticated yet. */
const BODY_BYTES_MAX = 4_096;
const CREDENTIALS = ["widgetToken", "ticket", "code"] as const;

const credential = { type: ["string", "null"], minLength: 1, maxLength: 100 } as const;
const parseSessionBody = compileParser({
  type: "object",
  properties: {
    widgetToken: credential,
    ticket: credential,
    code: credential,
    storage: { type: ["string", "null"], enum: ["cookie", "memory", null] },
    wantsState: { type: ["boolean", "null"] },
  },
  additionalProperties: false,
});

type SessionBody = { readonly [Name in keyof SessionRequest]?: SessionRequest[Name] | undefined };

export type ReadSessionRequest = {
  /** Undefined: the page of a merchant asks for a ticket. */
  credential: Credential | undefined;
  /** A form cannot read JSON: it gets the page. */
  isForm: boolean;
  isInMemory: boolean;
  wantsState: boolean;
};

/**
 * Reads the request for a session from JSON, or from a posted form with a widget token or a code. Throws the faults of
 * bad bodies.
 */
export async function readSessionRequest(raw: IncomingMessage): Promise<ReadSessionRequest> {
  const bytes = await readBody(raw, BODY_BYTES_MAX);
  const isForm = /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(raw.headers["content-type"] ?? "");
  const body: SessionBody = parseSessionBody(isForm ? parseForm(bytes) : parseJsonBody(raw, bytes));
  return {
    credential: toCredential(body),
    isForm,
    isInMemory: body.storage === "memory",
    wantsState: body.wantsState === true,
  };
}

function parseForm(bytes: Buffer): unknown {
  return Object.fromEntries(new URLSearchParams(bytes.toString("utf8")));
}

function toCredential(body: SessionBody): Credential | undefined {
  const given = CREDENTIALS.filter((name) => typeof body[name] === "string");
  const [name, ...others] = given;
  if (others.length > 0)
    throw new Fault("invalid_request", { param: others[0] ?? "", message: `Give one of ${CREDENTIALS.join(", ")}.` });
  const value = name === undefined ? "" : (body[name] ?? "");
  if (name === "widgetToken") return { widgetToken: value };
  if (name === "ticket") return { ticket: value };
  return name === "code" ? { code: value } : undefined;
}
