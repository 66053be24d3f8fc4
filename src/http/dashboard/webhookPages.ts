import type { FastifyInstance } from "fastify";
import type { MerchantPage } from "@tributary/dashboard/merchant/frame";
import {
  endpointPage,
  secretPage,
  webhooksPage,
  type EndpointView,
  type WebhookNotice,
} from "@tributary/dashboard/merchant/webhooks";
import { Fault } from "../../kernel/faults.ts";
import { idPattern } from "../../kernel/ids.ts";
import { secretText, webhookEndpointRecord, type WebhookEndpoint } from "../../webhook/endpoint/endpoint.ts";
import { listEndpointRows } from "../../webhook/endpoint/endpointStore.ts";
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  rotateSecret,
  type EndpointKey,
} from "../../webhook/endpoint/manageEndpoints.ts";
import { listDeliveries, webhookDeliveryRecord } from "../../webhook/listDeliveries.ts";
import { redeliver, sendTest } from "../../webhook/redeliver.ts";
import type { HttpContext } from "../httpContext.ts";
import { readPage } from "../reads/readPage.ts";
import { DASHBOARD_PATH, pageHandler, type PageRequest } from "./dashboardContext.ts";
import { addForm, type FormAnswer, type FormRequest } from "./formHandler.ts";

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

function addEndpointForms(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  addForm(server, context, {
    path: LIST_PATH,
    change: (form) =>
      refusedOn(
        form,
        (notice) => showEndpoints(context, form, notice),
        async () => {
          const input = { url: form.field("url"), types: typesOf(form) };
          const created = await createEndpoint(world, { accountId: form.session.accountId, input });
          return showSecret(form, created);
        },
      ),
  });
  const addEndpointForm = (path: string, change: (key: EndpointKey, form: FormRequest) => Promise<FormAnswer>) =>
    addForm(server, context, {
      path: `${ENDPOINT_PATH}${path}`,
      change: (form) => {
        const endpointId = form.parameter("endpointId");
        const show = (notice: WebhookNotice) => showEndpoint(context, form, { endpointId, cursor: "", notice });
        return refusedOn(form, show, () => change({ accountId: form.session.accountId, endpointId }, form));
      },
    });
  const back = ({ endpointId }: EndpointKey, done: string) => `${LIST_PATH}/${endpointId}?done=${done}`;
  addEndpointForm("", async (key, form) => {
    await changeEndpoint(world, key, { url: form.field("url"), types: typesOf(form) });
    return back(key, "saved");
  });
  addEndpointForm("/enable", async (key) => {
    await changeEndpoint(world, key, { status: "enabled" });
    return back(key, "saved");
  });
  addEndpointForm("/disable", async (key) => {
    await changeEndpoint(world, key, { status: "disabled" });
    return back(key, "saved");
  });
  addEndpointForm("/rotate", async (key, form) => showSecret(form, await rotateSecret(world, key)));
  addEndpointForm("/test", async (key) => {
    await sendTest(world, key);
    return back(key, "tested");
  });
  addEndpointForm("/redeliver", async (key, form) => {
    await redeliver(world, key, { eventId: form.field("eventId") });
    return back(key, "again");
  });
  addEndpointForm("/delete", async (key) => {
    await deleteEndpoint(world, key);
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

/** A refused change shows the page again, with the reason and what was entered. */
async function refusedOn(
  form: FormRequest,
  show: (notice: WebhookNotice) => Promise<MerchantPage>,
  change: () => Promise<FormAnswer>,
): Promise<FormAnswer> {
  try {
    return await change();
  } catch (error) {
    if (!(error instanceof Fault) || error.row.status === 404 || error.code === "rate_limited") throw error;
    form.reply.code(error.row.status);
    const url = form.field("url");
    const input = url === "" ? {} : { input: { url, types: form.field("types") } };
    return show({ problem: error.message, ...input });
  }
}
