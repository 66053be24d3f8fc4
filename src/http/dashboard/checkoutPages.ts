import type { FastifyInstance } from "fastify";
import { checkoutPage, LOOKS, type Looks } from "@tributary/dashboard/merchant/checkout";
import type { MerchantPage } from "@tributary/dashboard/merchant/frame";
import { appendAudit, type AuditAction } from "../../dashboard/auditStore.ts";
import type { Tx } from "../../db/database.ts";
import { changeBrand, parseBrandChange, readBrand } from "../../merchant/brand/updateBrand.ts";
import { changePageOrigins, listPageOrigins } from "../../merchant/pageOrigins.ts";
import type { HttpContext } from "../httpContext.ts";
import { PAGE_HEADERS } from "../pages/pageFiles.ts";
import { sendDocument } from "../sendCompressed.ts";
import { renderPreview } from "./checkoutPreview.ts";
import { DASHBOARD_PATH, pageHandler, type PageRequest } from "./dashboardContext.ts";
import { addForm, orShowAgain, type FormRequest } from "./formHandler.ts";

const PATH = `${DASHBOARD_PATH}/checkout`;

type Signed = Pick<PageRequest, "session" | "view">;
type Shown = { isSaved?: boolean; problem?: string; looks?: Looks; origins?: string };

/** Adds the page of the checkout's looks and of the pages that may embed it. */
export function addCheckoutPages(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  server.get(
    PATH,
    pageHandler(context, (page) => showCheckout(context, page, { isSaved: page.query("done") === "saved" })),
  );
  server.get(
    `${PATH}/preview`,
    pageHandler(context, async ({ session, view, query, reply, request }) => {
      const { logo } = await readBrand(world, session.accountId);
      const looks = Object.fromEntries(LOOKS.map((name) => [name, query(name).slice(0, 200)])) as Looks;
      const theme = query("theme") === "dark" ? "dark" : query("theme") === "light" ? "light" : null;
      const preview = { accountName: session.accountName, logo, looks, locale: view.t.locale, theme } as const;
      const { html, policy } = renderPreview(world, preview);
      reply.headers({ ...PAGE_HEADERS, "content-security-policy": policy });
      return sendDocument(request, reply, html);
    }),
  );
  const addChange = (
    path: string,
    entered: (form: FormRequest) => Shown,
    { action, change }: { action: AuditAction; change: (tx: Tx, form: FormRequest) => Promise<object> },
  ) =>
    addForm(server, context, {
      path: `${PATH}${path}`,
      allows: ({ mayManage }) => mayManage,
      change: (form) =>
        orShowAgain(
          form,
          (problem) => showCheckout(context, form, { problem, ...entered(form) }),
          async () => {
            const { accountId, actor } = form.session;
            await world.db.transaction(async (tx) => {
              const details = await change(tx, form);
              await appendAudit(tx, { accountId, at: world.clock.now(), actor, action, details });
            });
            return `${PATH}?done=saved`;
          },
        ),
    });
  addChange("", (form) => ({ looks: looksOf(form) }), {
    action: "checkout.looks_changed",
    change: async (tx, form) => {
      const looks = looksOf(form);
      const texts = Object.fromEntries(LOOKS.map((name) => [name, looks[name] === "" ? null : looks[name]]));
      const { radius, ...rest } = texts;
      const radiusPx = radius === null || radius === undefined ? null : Number(radius);
      const change = parseBrandChange({ ...rest, radiusPx });
      await changeBrand(tx, world, { accountId: form.session.accountId, change });
      return texts;
    },
  });
  addChange("/origins", (form) => ({ origins: form.field("origins") }), {
    action: "checkout.origins_changed",
    change: async (tx, form) => {
      const typed = form
        .field("origins")
        .split(/\s+/)
        .filter((line) => line !== "");
      return { origins: await changePageOrigins(tx, world, { accountId: form.session.accountId, origins: typed }) };
    },
  });
}

function looksOf(form: FormRequest): Looks {
  return Object.fromEntries(LOOKS.map((name) => [name, form.field(name)])) as Looks;
}

async function showCheckout({ world }: HttpContext, { session, view }: Signed, shown: Shown): Promise<MerchantPage> {
  const { accountId, mayManage, token } = session;
  const [brand, origins] = await Promise.all([readBrand(world, accountId), listPageOrigins(world, accountId)]);
  return checkoutPage(view, {
    looks: shown.looks ?? {
      accent: brand.accent ?? "",
      accentDark: brand.accentDark ?? "",
      radius: brand.radiusPx?.toString() ?? "",
      font: brand.font ?? "",
      support: brand.support ?? "",
    },
    hasLogo: brand.logo !== null,
    origins: shown.origins ?? origins.join("\n"),
    manager: mayManage ? { token } : null,
    isSaved: shown.isSaved ?? false,
    problem: shown.problem,
  });
}
