import { followEvents, readEvents } from "@tributary/client/events";
import type { Event } from "@tributary/client/types";
import { isDevManifest, type ManifestAccount } from "../../dev/manifest.ts";
import { systemEntropy } from "../../kernel/entropy.ts";
import { createApiClient, withApiError } from "../../operator/client/apiClient.ts";
import { chooseProcessToWrite, SERVICE_OPTION } from "../chooseProcess.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import { waitForShutdown } from "../../operator/process/shutdown.ts";
import { toJson } from "../../operator/process/terminal.ts";
import { secretText } from "../../webhook/endpoint/endpoint.ts";
import type { Command, CommandInput } from "../command.ts";
import { readEnvVariable, readWebUrl } from "../optionParsers.ts";
import { forwardEvent } from "./forwardEvent.ts";

const SECRET_BYTES = 32;

export const webhooksListen: Command = {
  name: "webhooks listen",
  summary: "forward events to a local URL, signed, without an endpoint",
  help: "Post each event of an account to a local URL, signed like a webhook, until interrupted; it needs no public address",
  positionals: [],
  options: {
    "forward-to": { value: "URL", summary: "URL of your own server, such as http://127.0.0.1:3000/webhooks" },
    types: { value: "LIST", summary: "event types, separated by commas; default every type" },
    after: { value: "SEQUENCE", summary: "begin behind this sequence; default with the next event" },
    "secret-env": {
      value: "NAME",
      summary: "environment variable with the secret; default a new one, which is shown",
    },
    account: { value: "ID", summary: "account of the dev world; default its first" },
    "base-url": { value: "URL", summary: "service to follow, with --api-key-env; default the dev world" },
    "api-key-env": { value: "NAME", summary: "environment variable with the API key; the scope events:read suffices" },
    ...SERVICE_OPTION,
  },
  examples: ["tributary webhooks listen --forward-to http://127.0.0.1:3000/webhooks"],
  run: runListen,
};

type ListenOptions = { forwardTo: string; after: number | undefined; type: string | undefined; secret: string };

async function runListen(input: CommandInput): Promise<number> {
  const { terminal } = input;
  const { forwardTo, after, type, secret } = readOptions(input);
  const api = await findApi(input);
  const ending = new AbortController();
  void waitForShutdown({ signal: terminal.outputClosed }).then(() => ending.abort());
  const begin = after ?? (await withApiError(findLastSequence(api)));
  terminal.note(`Forwarding the events of ${api.baseUrl} behind ${begin} to ${forwardTo}.`);
  if (input.values["secret-env"] === undefined) terminal.note(`They are signed with ${secret}`);
  const { signal } = ending;
  const follow = async () => {
    for await (const event of followEvents(api, { after: begin, type, signal }))
      await forward(input, { event, forwardTo, secret });
  };
  await withApiError(follow());
  return 0;
}

async function forward(
  { terminal, asJson }: CommandInput,
  { event, forwardTo, secret }: { event: Event; forwardTo: string; secret: string },
): Promise<void> {
  const answer = await forwardEvent({ event, url: forwardTo, secret });
  if (asJson) return terminal.out(toJson({ sequence: event.sequence, id: event.id, type: event.type, ...answer }));
  const result = answer.status === null ? terminal.paint("red", answer.error ?? "no answer") : String(answer.status);
  terminal.out(`${String(event.sequence).padStart(8)}  ${event.type.padEnd(32)}  ${event.intentId ?? ""}  ${result}`);
}

function readOptions(input: CommandInput): ListenOptions {
  const forwardTo = readWebUrl(input.values, "forward-to");
  if (forwardTo === undefined) throw new UsageError("Missing option --forward-to URL: your own server.");
  const typed = input.values["after"];
  if (typed !== undefined && !/^\d{1,15}$/.test(typed))
    throw new UsageError(`--after must be the sequence of an event, not ${typed}.`);
  const secret = readEnvVariable(input, "secret-env") ?? secretText(systemEntropy.bytes(SECRET_BYTES));
  const after = typed === undefined ? undefined : Number(typed);
  return { forwardTo, after, type: input.values["types"], secret };
}

async function findApi(input: CommandInput): Promise<{ baseUrl: string; apiKey: string }> {
  const baseUrl = readWebUrl(input.values, "base-url");
  const apiKey = readEnvVariable(input, "api-key-env");
  if (baseUrl !== undefined && apiKey !== undefined) return { baseUrl, apiKey };
  if (baseUrl !== undefined || apiKey !== undefined)
    throw new UsageError("--base-url and --api-key-env need each other.");
  const running = await chooseProcessToWrite(input);
  if (running === undefined || !isDevManifest(running.ready))
    throw new CommandError("No dev world runs. Start `tributary dev`, or give --base-url and --api-key-env.");
  const account = chooseAccount(running.ready.accounts, input.values["account"]);
  return { baseUrl: running.ready.baseUrl, apiKey: account.apiKey };
}

function chooseAccount(accounts: readonly ManifestAccount[], wanted: string | undefined): ManifestAccount {
  const [first] = accounts;
  const account = wanted === undefined ? first : accounts.find(({ accountId }) => accountId === wanted);
  if (account === undefined) throw new UsageError("--account must be an account of the dev world.");
  return account;
}

async function findLastSequence(api: { baseUrl: string; apiKey: string }): Promise<number> {
  let last = 0;
  for await (const { sequence } of readEvents(createApiClient(api).listEvents)) last = sequence;
  return last;
}
