import type { FastifyInstance } from "fastify";
import type { MerchantPage } from "@tributary/dashboard/merchant/frame";
import {
  endpointPage,
  secretPage,
  webhooksPage,
  type EndpointView,
  type WebhookNotice,
} from "@tributary/dashboard/merchant/webhooks";
import { appendAudit, type AuditAction } from "../../dashboard/auditStore.ts";
import type { Tx } from "../../db/database.ts";
import { idPattern } from "../../kernel/ids.ts";
import { secretText, webhookEndpointRecord, type WebhookEndpoint } from "../../webhook/endpoint/endpoint.ts";
import { listEndpointRows } from "../../webhook/endpoint/endpointStore.ts";
import {
  addEndpoint,
  editEndpoint,
  getEndpoint,
  removeEndpoint,
  renewSecret,
  type EndpointChange,
  type EndpointKey,
} from "../../webhook/endpoint/manageEndpoints.ts";
import { listDeliveries, webhookDeliveryRecord } from "../../webhook/listDeliveries.ts";
import { redeliver, sendTest } from "../../webhook/redeliver.ts";
import type { HttpContext } from "../httpContext.ts";
import { readPage } from "../reads/readPage.ts";
import { DASHBOARD_PATH, pageHandler, type PageRequest } from "./dashboardContext.ts";
import { addForm, orShowAgain, type FormAnswer, type FormRequest } from "./formHandler.ts";

const PAGE_SIZE = 25;
const LIST_PATH = `${DASHBOARD_PATH}/webhooks`;
const ENDPOINT_PATH = `${LIST_PATH}/:endpointId(${idPattern("we")})`;

/** Adds the pages of webhook endpoints and their forms. */
export function addWebhookPages(server: FastifyInstance, context: HttpContext): void {
  server.get(
    LIST_PATH,
    pageHandler(context, (page) => showEndpoints(context, page, { done: page.query("done") })),
  );
  server.get(
    ENDPOINT_PATH,
    pageHandler(context, (page) => {
      const { endpointId } = page.request.params as { endpointId: string };
      return showEndpoint(context, page, {
        endpointId,
        cursor: page.query("cursor"),
        notice: { done: page.query("done") },
      });
    }),
  );
  addCreateForm(server, context);
  addEndpointForms(server, context);
}

type Signed = Pick<PageRequest, "session" | "view">;

function managerOf({ session }: Signed) {
  return session.mayManage ? { token: session.token } : null;
}

async function showEndpoints({ world }: HttpContext, page: Signed, notice: WebhookNotice): Promise<MerchantPage> {
  const endpoints = await listEndpointRows(world.db.root, page.session.accountId);
  return webhooksPage(page.view, endpoints.map(toEndpointView), { manager: managerOf(page), notice });
}

async function showEndpoint(
  { world }: HttpContext,
  page: Signed,
  { endpointId, cursor, notice }: { endpointId: string; cursor: string; notice: WebhookNotice },
): Promise<MerchantPage> {
  const { accountId } = page.session;
  const endpoint = await getEndpoint(world, { accountId, endpointId });
  const { rows, nextCursor } = await readPage(world, {
    list: `deliveries ${endpointId}`,
    owner: accountId,
    limit: PAGE_SIZE,
    cursor: cursor === "" ? undefined : cursor,
    readRows: ({ below, limit }) =>
      listDeliveries(world.db, {
        endpointNumber: endpoint.number,
        below,
        limit,
        status: undefined,
        eventId: undefined,
      }),
    positionOf: ({ number }) => number,
  });
  const deliveries = rows.map((row) => {
    const record = webhookDeliveryRecord(row);
    const last = record.attempts.at(-1);
    const lastAnswer = last === undefined ? null : (last.error ?? String(last.statusCode ?? ""));
    return { ...record, number: row.number.toString(), tries: record.attempts.length, lastAnswer };
  });
  return endpointPage(page.view, toEndpointView(endpoint), {
    deliveries,
    nextCursor,
    isFirstPage: cursor === "",
    manager: managerOf(page),
    notice,
  });
}

function toEndpointView(row: WebhookEndpoint): EndpointView {
  const { webhookEndpointId: endpointId, ...record } = webhookEndpointRecord(row);
  return { ...record, endpointId };
}

function addCreateForm(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  addForm(server, context, {
    path: LIST_PATH,
    allows: ({ mayManage }) => mayManage,
    change: (form) =>
      orShowAgain(
        form,
        (problem) => showEndpoints(context, form, noticeOf(form, problem)),
        async () => {
          const input = { url: form.field("url"), types: typesOf(form) };
          const { accountId, actor } = form.session;
          const created = await world.db.transaction(async (tx) => {
            const endpoint = await addEndpoint(tx, world, { accountId, input });
            const details = { endpointId: endpoint.id, ...input };
            const at = world.clock.now();
            await appendAudit(tx, { accountId, at, actor, action: "webhook_endpoint.created", details });
            return endpoint;
          });
          return showSecret(form, created);
        },
      ),
  });
}

function addEndpointForms(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  const addEndpointForm = (path: string, change: (key: EndpointKey, form: FormRequest) => Promise<FormAnswer>) =>
    addForm(server, context, {
      path: `${ENDPOINT_PATH}${path}`,
      allows: ({ mayManage }) => mayManage,
      change: (form) => {
        const endpointId = form.parameter("endpointId");
        const show = (problem: string) =>
          showEndpoint(context, form, { endpointId, cursor: "", notice: noticeOf(form, problem) });
        return orShowAgain(form, show, () => change({ accountId: form.session.accountId, endpointId }, form));
      },
    });
  /** A change and its entry in the audit log are one transaction. */
  const noted = <Result>(
    { accountId, endpointId }: EndpointKey,
    form: FormRequest,
    { action, details = {}, run }: { action: AuditAction; details?: object; run: (tx: Tx) => Promise<Result> },
  ) =>
    world.db.transaction(async (tx) => {
      const result = await run(tx);
      const { actor } = form.session;
      const entry = { accountId, at: world.clock.now(), actor, action, details: { endpointId, ...details } };
      await appendAudit(tx, entry);
      return result;
    });
  const edit = async (key: EndpointKey, form: FormRequest, change: EndpointChange) => {
    const run = (tx: Tx) => editEndpoint(tx, world, { key, change });
    await noted(key, form, { action: "webhook_endpoint.changed", details: change, run });
    world.wake.notify("webhook events");
    return back(key, "saved");
  };
  const back = ({ endpointId }: EndpointKey, done: string) => `${LIST_PATH}/${endpointId}?done=${done}`;
  addEndpointForm("", (key, form) => edit(key, form, { url: form.field("url"), types: typesOf(form) }));
  addEndpointForm("/enable", (key, form) => edit(key, form, { status: "enabled" }));
  addEndpointForm("/disable", (key, form) => edit(key, form, { status: "disabled" }));
  addEndpointForm("/rotate", async (key, form) => {
    const run = (tx: Tx) => renewSecret(tx, world, key);
    return showSecret(form, await noted(key, form, { action: "webhook_endpoint.secret_renewed", run }));
  });
  addEndpointForm("/test", async (key) => {
    await sendTest(world, key);
    return back(key, "tested");
  });
  addEndpointForm("/redeliver", async (key, form) => {
    await redeliver(world, key, { eventId: form.field("eventId") });
    return back(key, "again");
  });
  addEndpointForm("/delete", async (key, form) => {
    await noted(key, form, { action: "webhook_endpoint.deleted", run: (tx) => removeEndpoint(tx, world, key) });
    return `${LIST_PATH}?done=deleted`;
  });
}

function showSecret({ view }: FormRequest, { id: endpointId, url, secret }: WebhookEndpoint): MerchantPage {
  return secretPage(view, { endpointId, url, secret: secretText(secret) });
}

function typesOf(form: FormRequest): string[] {
  return form
    .field("types")
    .split(",")
    .map((type) => type.trim())
    .filter((type) => type !== "");
}

/** What was entered stays where it was refused. */
function noticeOf(form: FormRequest, problem: string): WebhookNotice {
  const url = form.field("url");
  return { problem, ...(url === "" ? {} : { input: { url, types: form.field("types") } }) };
}
