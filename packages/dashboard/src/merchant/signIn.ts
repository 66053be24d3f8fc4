import { h } from "@tributary/checkout/vnode";
import { command } from "../parts/parts.ts";
import { lonePage, type MerchantContext } from "./frame.ts";
import { walletPlace } from "./walletPlace.ts";

// The pages before an account is open.

export type SignInProblem = "refused" | "noMember" | "link" | "unasked" | "scope" | "suspended" | "limited" | "away";

/** The only page without an account. The key is never written back. */
export function renderKeySignIn(context: MerchantContext, host: string, problem: SignInProblem | null): string {
  const { t } = context;
  const form = h(
    "form.pay-way",
    { method: "post", action: "/dashboard/sign-in" },
    problem !== null && h("p.err", { role: "alert", id: "problem" }, t.text(`signIn.${problem}`)),
    h(
      "p.field",
      {},
      h("label", { for: "key" }, t.text("signIn.key")),
      h("input", {
        id: "key",
        name: "key",
        type: "password",
        class: "id",
        autocomplete: "off",
        required: true,
        "aria-invalid": problem === "refused" || problem === "scope" ? "true" : undefined,
        "aria-describedby": problem === null ? undefined : "problem",
      }),
    ),
    h("button.btn.main-act", { type: "submit" }, t.text("signIn.submit")),
    h("p.small.dim", {}, t.text("signIn.make")),
    command("npx tributary keys create acct_… --scopes dashboard:read", t.text("cmd.copy")),
  );
  const content = [
    form,
    h("h2.label", {}, t.text("signIn.wallet")),
    h("p.small.dim", {}, t.text("signIn.wallet.what")),
    walletPlace(context, { action: "/dashboard/sign-in/wallet" }),
  ];
  return lonePage(context, { host, heading: t.text("signIn.title"), what: t.text("signIn.what"), content });
}

/** A link that signs in once, before its press. */
export function renderLinkSignIn(context: MerchantContext, host: string, code: string): string {
  const { t } = context;
  const content = h(
    "form.pay-way",
    { method: "post", action: "/dashboard/sign-in/link" },
    h("input", { type: "hidden", name: "code", value: code }),
    h("button.btn.main-act", { type: "submit" }, t.text("signIn.open")),
  );
  return lonePage(context, { host, heading: t.text("signIn.title"), what: t.text("signIn.press"), content });
}
