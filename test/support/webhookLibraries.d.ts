// What the tests use of the libraries that receivers of webhooks use.

declare module "standardwebhooks" {
  export class Webhook {
    constructor(secret: string);
    sign(id: string, at: Date, payload: string): string;
    verify(payload: string, headers: Record<string, string>): unknown;
  }
}

declare module "svix" {
  export { Webhook } from "standardwebhooks";
}
