import type { FastifyInstance } from "fastify";
import { accountsPage } from "@tributary/dashboard/merchant/accounts";
import { listOwnAccounts, switchAccount } from "../../../dashboard/session.ts";
import type { HttpContext } from "../../httpContext.ts";
import { setPageCookie } from "../../pages/pageFiles.ts";
import { COOKIE, DASHBOARD_PATH, pageHandler } from "../dashboardContext.ts";
import { addForm } from "../formHandler.ts";

export const ACCOUNTS_PATH = `${DASHBOARD_PATH}/accounts`;

/** Adds the page on which a wallet chooses one of the accounts that it is a member of. */
export function addAccountPages(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  server.get(
    ACCOUNTS_PATH,
    pageHandler(context, async ({ session, view }) =>
      accountsPage(view, {
        accounts: await listOwnAccounts(world, session),
        openId: session.accountId,
        token: session.token,
      }),
    ),
  );
  addForm(server, context, {
    path: ACCOUNTS_PATH,
    allows: ({ viewer }) => viewer.kind === "member",
    change: async (form) => {
      const { session, reply } = form;
      const value = await switchAccount(world, session, form.field("accountId"));
      const maxAgeMs = session.expiresAt.getTime() - world.clock.now().getTime();
      const isSecure = world.config.baseUrl.startsWith("https:");
      setPageCookie(reply, { name: COOKIE, value, path: DASHBOARD_PATH, maxAgeMs, isSecure });
      return DASHBOARD_PATH;
    },
  });
}
