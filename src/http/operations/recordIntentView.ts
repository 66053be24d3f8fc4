import { getOpenIntent } from "../../intent/readIntents.ts";
import { recordView, type Selection } from "../../view/recordView.ts";
import { invalid, readFields, readText } from "../body/fields.ts";
import type { Operation } from "../operation.ts";

const FIELDS = ["selection"] as const;
const SELECTION_FIELDS = ["namespace", "reference", "tokenAddress"] as const;
const TEXT_CHARACTERS_MAX = 100;

export const recordIntentView: Operation = {
  operationId: "recordIntentView",
  method: "POST",
  path: "/api/v1/intents/{id}/view",
  perMinute: 60,
  perMinuteAndIntent: 30,
  async answer(world, { account, id, body }) {
    const selection = readSelection(body);
    const intent = await getOpenIntent(world, { accountId: account.id, intentId: id });
    return { status: 202, body: { recorded: await recordView(world, intent, selection) } };
  },
};

function readSelection(body: unknown): Selection | undefined {
  const selection = readFields(body, FIELDS)["selection"] ?? undefined;
  if (selection === undefined) return undefined;
  const fields = readFields(selection, SELECTION_FIELDS, "selection");
  const read = (field: (typeof SELECTION_FIELDS)[number]): string => {
    const text = readText(fields, field, { max: TEXT_CHARACTERS_MAX, path: "selection" });
    if (text === undefined) throw invalid(`selection.${field}`, "is required in a selection");
    return text;
  };
  return { namespace: read("namespace"), reference: read("reference"), tokenAddress: read("tokenAddress") };
}
