import type { FastifyInstance } from "fastify";
import type { MerchantPage } from "@tributary/dashboard/merchant/frame";
import { payoutPage } from "@tributary/dashboard/merchant/payout";
import type { Asset } from "../../catalog/catalog.ts";
import {
  describeChange,
  payoutChangeDelayMs,
  payoutChangeText,
  proposePayoutChange,
  signPayoutChange,
  stopPayoutChange,
} from "../../dashboard/payoutChange.ts";
import { listChangeRows } from "../../dashboard/payoutChangeStore.ts";
import { caip2, displayAddress, namespaceOf, referenceOf } from "../../kernel/caip.ts";
import { Fault } from "../../kernel/faults.ts";
import { findAccount } from "../../merchant/store.ts";
import type { World } from "../../world.ts";
import type { HttpContext } from "../httpContext.ts";
import { DASHBOARD_PATH, pageHandler, type PageRequest } from "./dashboardContext.ts";
import { addForm, orShowAgain, type FormRequest } from "./formHandler.ts";

const PATH = `${DASHBOARD_PATH}/payout`;
const CHANGES_SHOWN = 25;
const HOUR_MS = 3_600_000;

type Signed = Pick<PageRequest, "session" | "view">;

/** Adds the page of the payout. No key changes it, and no session alone: the present payout wallet signs. */
export function addPayoutPages(server: FastifyInstance, context: HttpContext): void {
  const { world } = context;
  server.get(
    PATH,
    pageHandler(context, (page) => showPayout(world, page)),
  );
  const addChange = (
    action: string,
    allows: (session: PageRequest["session"]) => boolean,
    change: (form: FormRequest) => Promise<unknown>,
  ) =>
    addForm(server, context, {
      path: `${PATH}${action}`,
      allows,
      change: (form) =>
        orShowAgain(
          form,
          (problem) => showPayout(world, form, problem),
          async () => {
            await change(form);
            return PATH;
          },
        ),
    });
  const isMember = ({ viewer }: PageRequest["session"]) => viewer.kind === "member";
  addChange(
    "",
    ({ isOwner }) => isOwner,
    async (form) => {
      const { accountId, actor } = form.session;
      const coin = coinsOf(world).find(({ value }) => value === form.field("coin"));
      if (coin === undefined)
        throw new Fault("invalid_request", { param: "coin", message: "coin must be one of the list." });
      const payout = {
        namespace: namespaceOf(coin.chain),
        chainReference: referenceOf(coin.chain),
        wallet: form.field("wallet"),
        currency: coin.symbol,
      };
      await proposePayoutChange(world, { accountId, change: { payout } }, actor);
    },
  );
  const named = (form: FormRequest) => ({ accountId: form.session.accountId, changeId: form.field("changeId") });
  addChange("/sign", isMember, (form) =>
    signPayoutChange(world, { ...named(form), signature: form.field("signature") }, form.session.actor),
  );
  addChange("/stop", isMember, (form) => stopPayoutChange(world, named(form), form.session.actor));
}

async function showPayout(world: World, { session, view }: Signed, problem?: string): Promise<MerchantPage> {
  const { accountId, viewer, isOwner, token } = session;
  const [account, changes] = await Promise.all([
    findAccount(world.db, accountId),
    listChangeRows(world.db, accountId, CHANGES_SHOWN),
  ]);
  const nameOf = (id: string) => world.catalog.knownChains.find((chain) => chain.caip2 === id)?.name ?? id;
  const { payout_namespace: namespace, payout_chain_reference: reference, payout_wallet: wallet } = account ?? {};
  const chain = namespace && reference ? caip2(namespace, reference) : undefined;
  return payoutPage(view, {
    present:
      chain === undefined || !wallet
        ? null
        : { wallet: displayAddress(chain, wallet), chain: nameOf(chain), token: account?.currency ?? "" },
    changes: changes.map((row) => ({
      changeId: row.id,
      status: row.status,
      change: describeChange(row),
      proposedBy: row.proposed_by,
      proposedAt: row.proposed_at.toISOString(),
      dueAt: row.due_at?.toISOString() ?? null,
      endedBy: row.ended_by,
      text: payoutChangeText(world, row),
    })),
    choices: coinsOf(world).map((coin) => ({ value: coin.value, label: `${coin.symbol}, ${nameOf(coin.chain)}` })),
    delayHours: payoutChangeDelayMs(world.config) / HOUR_MS,
    owner: isOwner ? { token } : null,
    member: viewer.kind === "member" ? { token } : null,
    problem,
  });
}

/** What can be paid out. */
function coinsOf({ catalog }: Pick<World, "catalog">): { value: string; chain: Asset["chain"]; symbol: string }[] {
  return catalog.assets
    .filter(({ isRail }) => isRail)
    .map(({ chain, symbol }) => ({ value: `${chain} ${symbol}`, chain, symbol }));
}
