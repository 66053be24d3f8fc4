import type { Command } from "./command.ts";
import { dev } from "./service/dev.ts";
import { demo } from "./service/demo.ts";
import { pay } from "./service/pay.ts";
import { init } from "./init/init.ts";
import { restoreMark } from "./service/restoreMark.ts";
import { serve } from "./service/serve.ts";
import { migrate } from "./service/migrate.ts";
import { upgrade } from "./service/upgrade.ts";
import { accountsCreate, accountsList, accountsResume, accountsShow, accountsSuspend } from "./merchants/accounts.ts";
import { accountsUpdate } from "./merchants/accountsUpdate.ts";
import { accountsBrand } from "./merchants/accountsBrand.ts";
import { membersAdd, membersLink, membersList, membersRemove } from "./merchants/members.ts";
import { payoutChangesList, payoutChangeStop } from "./merchants/payoutChanges.ts";
import { pageOriginsAdd, pageOriginsList, pageOriginsRemove } from "./merchants/pageOrigins.ts";
import { keysCreate, keysList, keysRevoke, keysRotate } from "./merchants/keys.ts";
import { keysGas } from "./chains/keysGas.ts";
import { originsDisable, originsEnable, originsList } from "./merchants/origins.ts";
import { intentsArchive, intentsExport, intentsList, intentsShow } from "./merchants/intents.ts";
import { intentsImport } from "./merchants/intentsImport.ts";
import { eventsList, eventsTail } from "./merchants/events.ts";
import {
  webhooksCreate,
  webhooksDelete,
  webhooksDeliveries,
  webhooksList,
  webhooksRedeliver,
  webhooksRotate,
  webhooksTest,
  webhooksUpdate,
} from "./webhooks/webhooks.ts";
import { webhooksListen } from "./webhooks/webhooksListen.ts";
import { rescan } from "./chains/rescan.ts";
import { opsLink } from "./service/opsLink.ts";
import { status } from "./service/status.ts";
import { watchStatus } from "./chains/watch.ts";
import { networksList, networksShow } from "./chains/networks.ts";
import { doctor } from "./service/doctor.ts";
import { hubDeploy, hubStatus, recover, verify } from "./offlineCommands.ts";
import { ledgerBalances, ledgerExport } from "./chains/ledger.ts";

/** In the order of the overview. */
export const COMMANDS: readonly Command[] = [
  dev,
  demo,
  pay,
  init,
  serve,
  migrate,
  upgrade,
  accountsCreate,
  accountsList,
  accountsShow,
  accountsUpdate,
  accountsBrand,
  accountsSuspend,
  accountsResume,
  pageOriginsAdd,
  pageOriginsRemove,
  pageOriginsList,
  payoutChangesList,
  payoutChangeStop,
  membersAdd,
  membersList,
  membersRemove,
  membersLink,
  keysCreate,
  keysList,
  keysRotate,
  keysRevoke,
  keysGas,
  originsList,
  originsEnable,
  originsDisable,
  intentsList,
  intentsShow,
  intentsArchive,
  intentsExport,
  intentsImport,
  eventsList,
  eventsTail,
  webhooksListen,
  webhooksCreate,
  webhooksList,
  webhooksUpdate,
  webhooksDelete,
  webhooksRotate,
  webhooksTest,
  webhooksDeliveries,
  webhooksRedeliver,
  opsLink,
  restoreMark,
  rescan,
  status,
  watchStatus,
  doctor,
  networksList,
  networksShow,
  verify,
  recover,
  hubStatus,
  hubDeploy,
  ledgerExport,
  ledgerBalances,
];
