import { formatTable } from "../../operator/process/terminal.ts";
import { operatorCommand, operatorListCommand } from "../operatorCommand.ts";

const ACCOUNT = { name: "accountId", summary: "account id (acct_…)" } as const;
const ENDPOINT = { name: "webhookEndpointId", summary: "endpoint id (we_…)" } as const;
const TYPES = {
  value: "LIST",
  summary: "event types, separated by commas, such as payment_intent.*,deposit.counted; default every type",
} as const;
const SAVE_SECRET = "Save this secret now: it is not shown again.";

export const webhooksCreate = operatorCommand({
  operation: "webhooks create",
  summary: "create a webhook endpoint and show its secret once",
  help: "Create a webhook endpoint of an account, which gets the events from now on, and show its secret once",
  positionals: [ACCOUNT, { name: "url", summary: "public https URL that events are posted to" }],
  options: { types: TYPES, description: { value: "TEXT", summary: "what the endpoint is for" } },
  examples: ["tributary webhooks create acct_3x7… https://shop.example/webhooks --types 'payment_intent.*'"],
  print: ({ webhookEndpointId, secret }) => [webhookEndpointId, secret],
  note: (_endpoint, { asJson }) => (asJson ? [] : [SAVE_SECRET]),
});

export const webhooksList = operatorCommand({
  operation: "webhooks list",
  summary: "list an account's webhook endpoints",
  help: "List an account's webhook endpoints, with what each gets and whether it fails",
  positionals: [ACCOUNT],
  examples: ["tributary webhooks list acct_3x7…"],
  print: (endpoints, { terminal }) => {
    const rows = endpoints.map(({ webhookEndpointId, url, types, status, disabledReason, failingSince }) => [
      webhookEndpointId,
      url,
      types.join(" "),
      disabledReason === null ? status : `${status}: ${disabledReason}`,
      failingSince ?? "no",
    ]);
    return formatTable(terminal, ["endpoint", "URL", "types", "status", "failing since"], rows);
  },
});

export const webhooksUpdate = operatorCommand({
  operation: "webhooks update",
  summary: "change, disable or enable a webhook endpoint",
  help: "Change a webhook endpoint. One that is enabled again goes on with the first event that it has not got",
  positionals: [ENDPOINT],
  options: {
    url: { value: "URL", summary: "another URL" },
    types: TYPES,
    description: { value: "TEXT", summary: "what the endpoint is for" },
    status: { value: "STATUS", summary: "enabled or disabled" },
  },
  examples: ["tributary webhooks update we_3x7… --status enabled"],
  print: ({ webhookEndpointId, status }) => [`${webhookEndpointId} is ${status}.`],
});

export const webhooksDelete = operatorCommand({
  operation: "webhooks delete",
  summary: "delete a webhook endpoint",
  help: "Delete a webhook endpoint; what it has not got stays in the feed",
  positionals: [ENDPOINT],
  examples: ["tributary webhooks delete we_3x7…"],
  print: ({ webhookEndpointId }) => [`${webhookEndpointId} is deleted.`],
});

export const webhooksRotate = operatorCommand({
  operation: "webhooks rotate",
  summary: "give a webhook endpoint a new secret",
  help: "Give a webhook endpoint a new secret; the earlier one signs beside it for 24 hours",
  positionals: [ENDPOINT],
  examples: ["tributary webhooks rotate we_3x7…"],
  print: ({ secret }) => [secret],
  note: (_endpoint, { asJson }) => (asJson ? [] : [SAVE_SECRET]),
});

export const webhooksTest = operatorCommand({
  operation: "webhooks test",
  summary: "send a test event to a webhook endpoint",
  help: "Send a test event to one webhook endpoint; `webhooks deliveries` shows what came back",
  positionals: [ENDPOINT],
  examples: ["tributary webhooks test we_3x7…"],
  print: ({ eventId }) => [eventId],
});

export const webhooksRedeliver = operatorCommand({
  operation: "webhooks redeliver",
  summary: "deliver events to a webhook endpoint again",
  help: "Deliver one event or a range of sequences to a webhook endpoint again, also those from before its creation",
  positionals: [ENDPOINT],
  options: {
    event: { value: "ID", summary: "this event (evt_…)" },
    from: { value: "SEQUENCE", summary: "the first sequence of a range of at most 10,000" },
    to: { value: "SEQUENCE", summary: "its last sequence" },
  },
  examples: [
    "tributary webhooks redeliver we_3x7… --event evt_7k2…",
    "tributary webhooks redeliver we_3x7… --from 40 --to 42",
  ],
  print: ({ count }) => [`${count} events are delivered again.`],
});

export const webhooksDeliveries = operatorListCommand({
  operation: "webhooks deliveries",
  summary: "list the deliveries of a webhook endpoint",
  help: "List the deliveries of a webhook endpoint, newest first, with the last try of each; --json shows every try",
  positionals: [ENDPOINT],
  options: {
    status: { value: "STATUS", summary: "only pending, succeeded or failed ones" },
    event: { value: "ID", summary: "only deliveries of this event (evt_…)" },
  },
  examples: ["tributary webhooks deliveries we_3x7… --status failed"],
  printRows: (deliveries, { terminal }) => {
    const rows = deliveries.map(({ eventId, type, sequence, status, attempts, nextTryAt }) => {
      const last = attempts.at(-1);
      const result = last === undefined ? "" : String(last.statusCode ?? last.error);
      return [
        String(sequence),
        type ?? "",
        eventId ?? "expired",
        status,
        String(attempts.length),
        result,
        nextTryAt ?? "",
      ];
    });
    return formatTable(terminal, ["sequence", "type", "event", "status", "tries", "last answer", "next try"], rows);
  },
});
