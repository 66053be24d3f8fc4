import { mount } from "./mount.ts";
import type { Checkout, CheckoutEvents } from "./types.ts";

const EVENTS: readonly (keyof CheckoutEvents)[] = ["ready", "status", "paid", "error", "close"];

/**
 * Defines `<tributary-checkout intent-id="pi_…" locale theme base-url>`, which shows the checkout in its place. Its
 * events are those of `mount`, as `tributary:ready` and so on with the event in `detail`. On a server, and a second
 * time, it does nothing.
 */
export function defineElement(): void {
  if (typeof customElements === "undefined" || customElements.get("tributary-checkout")) return;
  class TributaryCheckout extends HTMLElement {
    static readonly observedAttributes = ["intent-id", "locale", "theme"];
    #checkout: Checkout | undefined;

    connectedCallback(): void {
      this.#open();
    }
    disconnectedCallback(): void {
      this.#checkout?.unmount();
      this.#checkout = undefined;
    }
    attributeChangedCallback(): void {
      if (this.isConnected) this.#open();
    }

    #open(): void {
      const intentId = this.getAttribute("intent-id");
      if (intentId === null) return this.disconnectedCallback();
      this.style.display ||= "block";
      const theme = this.getAttribute("theme");
      const checkout = mount({
        intentId,
        target: this,
        baseUrl: this.getAttribute("base-url") ?? undefined,
        locale: this.getAttribute("locale") ?? undefined,
        theme: theme === "light" || theme === "dark" ? theme : undefined,
      });
      if (checkout === this.#checkout) return;
      this.#checkout = checkout;
      for (const name of EVENTS)
        checkout.on(name, (detail) => this.dispatchEvent(new CustomEvent(`tributary:${name}`, { detail })));
    }
  }
  customElements.define("tributary-checkout", TributaryCheckout);
}

defineElement();
