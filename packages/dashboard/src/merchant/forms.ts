import { h, type Child, type VElement } from "@tributary/checkout/vnode";

// Forms of the dashboard that change something. Each carries the token of its session.

/** A session that may change things. */
export type Manager = { readonly token: string };

export function actionForm(
  { manager, action }: { manager: Manager; action: string },
  ...content: readonly Child[]
): VElement {
  return h(
    "form",
    { method: "post", action },
    h("input", { type: "hidden", name: "token", value: manager.token }),
    content,
  );
}
