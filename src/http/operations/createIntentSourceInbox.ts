import { issueSourceInbox, type OriginName } from "../../inbox/issueSourceInbox.ts";
import { getOpenIntent } from "../../intent/readIntents.ts";
import { invalid, readFields, readText, readWholeNumber } from "../body/fields.ts";
import type { Operation } from "../operation.ts";

const FIELDS = ["chainId", "namespace", "reference", "mint"] as const;
const TEXT_CHARACTERS_MAX = 100;

export const createIntentSourceInbox: Operation = {
  operationId: "createIntentSourceInbox",
  method: "POST",
  path: "/api/v1/intents/{id}/source-inbox",
  perMinute: 30,
  whenUnavailable: "source_inbox_unavailable",
  async answer(world, { account, id, body }) {
    const origin = readOrigin(body);
    const intent = await getOpenIntent(world, { accountId: account.id, intentId: id });
    return { status: 201, body: await issueSourceInbox(world, intent, origin) };
  },
};

function readOrigin(body: unknown): OriginName {
  const fields = readFields(body, FIELDS);
  const chainId = readWholeNumber(fields, "chainId", 1);
  const [namespace, reference, mint] = (["namespace", "reference", "mint"] as const).map((field) =>
    readText(fields, field, { max: TEXT_CHARACTERS_MAX }),
  );
  if (chainId !== undefined) {
    if (namespace ?? reference ?? mint)
      throw invalid("chainId", "must stand alone: a body names an EVM origin or a Solana one");
    return { chainId };
  }
  if (namespace === undefined && reference === undefined && mint === undefined) {
    throw invalid("chainId", "is required, or namespace, reference and mint for Solana");
  }
  if (namespace === undefined) throw invalid("namespace", "is required beside reference and mint");
  if (reference === undefined) throw invalid("reference", "is required beside namespace and mint");
  if (mint === undefined) throw invalid("mint", "is required beside namespace and reference");
  return { namespace, reference, mint };
}
