export { configure } from "./configure.ts";
export { mount } from "./mount.ts";
export type {
  Checkout,
  CheckoutErrorCode,
  CheckoutEvents,
  MountOptions,
  PaymentStage,
  PayoutCheck,
  ShownPayment,
} from "./types.ts";
