import { h, type VElement } from "@tributary/checkout/vnode";
import { logo } from "../parts/icons.ts";
import { command } from "../parts/parts.ts";
import type { OpsContext } from "./opsContext.ts";
import type { RenderedOps } from "./opsPage.ts";

/** `code`: from the link, which the button uses up. Null: the page was opened without one. */
export type SignIn = {
  readonly host: string;
  readonly code: string | null;
  readonly problem: "refused" | "limited" | null;
};

/** The page before the operator's page. A link is used up by a press, so that no program that looks at links uses it. */
export function renderSignIn(context: OpsContext, { host, code, problem }: SignIn): RenderedOps {
  const { t } = context;
  const open =
    code === null || problem !== null
      ? printLink(context, problem)
      : h(
          "form",
          { method: "post", action: "/ops/sign-in", class: "pay-way" },
          h("input", { type: "hidden", name: "code", value: code }),
          h("p", {}, t.text("signIn.press")),
          h("button.btn.main-act", { type: "submit" }, t.text("signIn.open")),
        );
  const body = [
    h(
      "main.lone",
      { id: "main" },
      h("span.shop", {}, logo(), h("b", {}, h("bdi", { translate: "no" }, host))),
      h(
        "section.slip",
        {},
        h("div.up", {}, h("h1", {}, t.text("signIn.heading"))),
        h("div.tear"),
        h("div.down", {}, open),
      ),
    ),
  ];
  return { title: t.text("title.signIn", { host }), body };
}

function printLink({ t }: OpsContext, problem: SignIn["problem"]): VElement {
  if (problem === "limited") return h("p", { role: "alert" }, t.text("signIn.limited"));
  return h(
    "div.pay-way",
    {},
    h("p", problem === null ? {} : { role: "alert" }, t.text(problem === null ? "signIn.what" : "signIn.refused")),
    command("npx tributary ops link", t.text("cmd.copy")),
  );
}
