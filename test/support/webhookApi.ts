import { MANAGE_WEBHOOKS, CREATE_INTENTS } from "../../src/merchant/keys/scopes.ts";
import { testApi, type Json, type Merchant } from "./api.ts";

export const ENDPOINTS = "/api/v1/webhook-endpoints";

/** A merchant whose key may do everything with webhooks, and one endpoint of it. */
export async function openWebhookMerchant() {
  const api = await testApi();
  const merchant = await api.openMerchant({ scopes: [CREATE_INTENTS, MANAGE_WEBHOOKS] });
  const endpoint = await createEndpoint(merchant);
  return { api, merchant, endpoint, url: `${ENDPOINTS}/${endpoint.webhookEndpointId}` };
}

export async function createEndpoint(merchant: Merchant, input: object = {}): Promise<Json> {
  const { body } = await merchant.post(ENDPOINTS, { url: "https://shop.example/hooks", ...input });
  return body;
}
