import { createElement, useCallback, useEffect, useRef, type ReactElement } from "react";
import { mount, type Checkout as MountedCheckout, type MountOptions } from "@tributary/sdk";

/** The options of `mount`, without the ones that the component decides. */
export type CheckoutProps = Omit<MountOptions, "target" | "mode"> & { readonly className?: string | undefined };

/**
 * Shows the checkout in its place. Another `intentId`, `baseUrl` or `expectedPayout` opens it again; every other change
 * applies to the open one. Keep `expectedPayout` in a constant or in `useMemo`.
 */
export function Checkout({ className, ...options }: CheckoutProps): ReactElement {
  const place = useRef<HTMLDivElement>(null);
  const checkout = useRef<MountedCheckout>(undefined);
  const latest = useRef(options);
  const { intentId, baseUrl, expectedPayout, locale, theme } = options;
  const { onReady, onStatus, onPaid, onError, onClose } = options;
  useEffect(() => {
    latest.current = options;
  });
  useEffect(() => {
    if (place.current === null) return undefined;
    const current = mount({ ...latest.current, target: place.current, mode: "inline" });
    checkout.current = current;
    return () => current.unmount();
  }, [intentId, baseUrl, expectedPayout]);
  useEffect(() => {
    checkout.current?.update({ locale, theme, onReady, onStatus, onPaid, onError, onClose });
  }, [locale, theme, onReady, onStatus, onPaid, onError, onClose]);
  return createElement("div", { ref: place, className });
}

/** Returns a function that opens the checkout, by default as a modal. It closes when the component goes. */
export function useCheckout(): (options: MountOptions) => MountedCheckout {
  const checkout = useRef<MountedCheckout>(undefined);
  useEffect(() => () => checkout.current?.unmount(), []);
  return useCallback((options) => (checkout.current = mount(options)), []);
}
