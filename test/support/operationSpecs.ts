import { MANAGE_CHECKOUT, MANAGE_WEBHOOKS, READ_DASHBOARD } from "../../src/merchant/keys/scopes.ts";
import { SETTLE_CHAIN_ID } from "./api.ts";

export type OperationSpec = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  body?: object;
  status: number;
  perMinute: number;
  /** The scope that its 403 names; payment_intents:create by default. */
  scope?: string;
};

export const OPERATIONS = {
  listPaymentIntents: { method: "GET", path: "/api/v1/intents", status: 200, perMinute: 60 },
  createPaymentIntent: { method: "POST", path: "/api/v1/intents", body: {}, status: 201, perMinute: 30 },
  getPaymentIntent: { method: "GET", path: "/api/v1/intents/{id}", status: 200, perMinute: 120 },
  archivePaymentIntent: {
    method: "POST",
    path: "/api/v1/intents/{id}/archive",
    body: {},
    status: 200,
    perMinute: 30,
  },
  listIntentOrigins: { method: "GET", path: "/api/v1/intents/{id}/origins", status: 200, perMinute: 120 },
  createIntentSourceInbox: {
    method: "POST",
    path: "/api/v1/intents/{id}/source-inbox",
    status: 201,
    perMinute: 30,
    body: { chainId: SETTLE_CHAIN_ID },
  },
  recordIntentView: { method: "POST", path: "/api/v1/intents/{id}/view", body: {}, status: 202, perMinute: 60 },
  listIntentDeposits: { method: "GET", path: "/api/v1/intents/{id}/deposits", status: 200, perMinute: 120 },
  listIntentSettlements: { method: "GET", path: "/api/v1/intents/{id}/settlements", status: 200, perMinute: 120 },
  getAccount: { method: "GET", path: "/api/v1/account", status: 200, perMinute: 120 },
  updateAccount: {
    method: "PATCH",
    path: "/api/v1/account",
    body: {},
    status: 200,
    perMinute: 30,
    scope: MANAGE_CHECKOUT,
  },
  listPageOrigins: {
    method: "GET",
    path: "/api/v1/page-origins",
    status: 200,
    perMinute: 120,
    scope: MANAGE_CHECKOUT,
  },
  replacePageOrigins: {
    method: "PUT",
    path: "/api/v1/page-origins",
    body: { origins: [] },
    status: 200,
    perMinute: 30,
    scope: MANAGE_CHECKOUT,
  },
  listEvents: {
    method: "GET",
    path: "/api/v1/events",
    status: 200,
    perMinute: 120,
  },
  streamEvents: {
    method: "GET",
    path: "/api/v1/events/stream",
    status: 200,
    perMinute: 120,
  },
  getEvent: {
    method: "GET",
    path: "/api/v1/events/{id}",
    status: 200,
    perMinute: 120,
  },
  createWebhookEndpoint: {
    method: "POST",
    path: "/api/v1/webhook-endpoints",
    body: { url: "https://shop.example/hooks" },
    status: 201,
    perMinute: 30,
    scope: MANAGE_WEBHOOKS,
  },
  listWebhookEndpoints: {
    method: "GET",
    path: "/api/v1/webhook-endpoints",
    status: 200,
    perMinute: 120,
    scope: MANAGE_WEBHOOKS,
  },
  getWebhookEndpoint: {
    method: "GET",
    path: "/api/v1/webhook-endpoints/{id}",
    status: 200,
    perMinute: 120,
    scope: MANAGE_WEBHOOKS,
  },
  updateWebhookEndpoint: {
    method: "PATCH",
    path: "/api/v1/webhook-endpoints/{id}",
    body: {},
    status: 200,
    perMinute: 30,
    scope: MANAGE_WEBHOOKS,
  },
  deleteWebhookEndpoint: {
    method: "DELETE",
    path: "/api/v1/webhook-endpoints/{id}",
    body: {},
    status: 200,
    perMinute: 30,
    scope: MANAGE_WEBHOOKS,
  },
  rotateWebhookSecret: {
    method: "POST",
    path: "/api/v1/webhook-endpoints/{id}/rotate-secret",
    body: {},
    status: 200,
    perMinute: 30,
    scope: MANAGE_WEBHOOKS,
  },
  testWebhookEndpoint: {
    method: "POST",
    path: "/api/v1/webhook-endpoints/{id}/test",
    body: {},
    status: 202,
    perMinute: 30,
    scope: MANAGE_WEBHOOKS,
  },
  listWebhookDeliveries: {
    method: "GET",
    path: "/api/v1/webhook-endpoints/{id}/deliveries",
    status: 200,
    perMinute: 120,
    scope: MANAGE_WEBHOOKS,
  },
  redeliverEvents: {
    method: "POST",
    path: "/api/v1/webhook-endpoints/{id}/redeliver",
    body: { fromSequence: 1, toSequence: 1 },
    status: 202,
    perMinute: 30,
    scope: MANAGE_WEBHOOKS,
  },
  listAuditLog: {
    method: "GET",
    path: "/api/v1/audit-log",
    status: 200,
    perMinute: 120,
    scope: READ_DASHBOARD,
  },
} as const satisfies Record<string, OperationSpec>;

export type OperationId = keyof typeof OPERATIONS;
