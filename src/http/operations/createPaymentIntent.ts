import { createIntent, type CreateIntentInput } from "../../intent/createIntent.ts";
import { intentRecord } from "../../intent/record.ts";
import { Fault } from "../../kernel/faults.ts";
import { invalid, readBoolean, readFields, readText, readWholeNumber, type Fields } from "../body/fields.ts";
import { readMetadata } from "../body/metadata.ts";
import { checkReference, REFERENCE_CHARACTERS_MAX } from "../body/reference.ts";
import type { Operation } from "../operation.ts";

const FIELDS = [
  "merchantReference",
  "metadata",
  "priceUnits",
  "oneTime",
  "payoutWallet",
  "payoutNamespace",
  "payoutChainReference",
  "payoutTokenAddress",
] as const;

/** Longer than any address. */
const ADDRESS_CHARACTERS_MAX = 100;

export const createPaymentIntent: Operation = {
  operationId: "createPaymentIntent",
  method: "POST",
  path: "/api/v1/intents",
  perMinute: 30,
  async answer(world, { account, body }) {
    const input = readInput(body);
    const { intent, isCreated, widgetToken } = await createIntent(world.db.read, world, { account, input });
    return { status: 201, body: { ...intentRecord(intent, world.config), created: isCreated, widgetToken } };
  },
};

function readInput(body: unknown): CreateIntentInput {
  const fields = readFields(body, FIELDS);
  const reference = readText(fields, "merchantReference", { max: REFERENCE_CHARACTERS_MAX });
  const priceUnits = readWholeNumber(fields, "priceUnits", 1);
  const oneTime = readBoolean(fields, "oneTime");
  if (oneTime === true && priceUnits === undefined) throw new Fault("price_required", { param: "priceUnits" });
  return {
    merchantReference: reference === undefined ? null : checkReference(reference),
    metadata: readMetadata(fields) ?? null,
    priceUnits: priceUnits ?? null,
    oneTime: oneTime ?? null,
    payoutWallet: readText(fields, "payoutWallet", { max: ADDRESS_CHARACTERS_MAX }) ?? null,
    payoutNamespace: readNamespace(fields) ?? null,
    payoutChainReference: readChainReference(fields) ?? null,
    payoutTokenAddress: readText(fields, "payoutTokenAddress", { max: ADDRESS_CHARACTERS_MAX }) ?? null,
  };
}

function readNamespace(fields: Fields): string | undefined {
  const namespace = readText(fields, "payoutNamespace", { max: ADDRESS_CHARACTERS_MAX });
  if (namespace === undefined || namespace === "eip155" || namespace === "solana") return namespace;
  throw invalid("payoutNamespace", "must be eip155 or solana");
}

/** A text, or the chain id as a number, which is how most tools print it. */
function readChainReference(fields: Fields): string | undefined {
  const field = "payoutChainReference";
  if (typeof fields[field] === "number") return String(readWholeNumber(fields, field, 1));
  const reference = readText(fields, field, { max: ADDRESS_CHARACTERS_MAX });
  if (reference === undefined || /^[-_a-zA-Z0-9]{1,32}$/.test(reference)) return reference;
  throw invalid(field, "must have 1 to 32 letters, digits, hyphens or underscores");
}
