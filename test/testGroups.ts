import type { TestRunSetup } from "../scripts/tests/groups.ts";
import { shareTestServer } from "./support/database.ts";

// Which files of `npm test` share a process. A file of a shared group opens databases, accounts and chains of its own, and leaves the
// clock and the environment as they were. Files that measure, start services or read the processes of the machine run alone.

/** Modules whose one instance all files of a process use. */
const TEST_APIS = ["test/support/api.ts", "test/support/remoteGateApi.ts", "test/support/testDatabaseFailures.ts"];

/** Files of the operations' folder that measure memory, time or sockets. */
const MEASURED = "test/http/@(connectionLimits|memory|rawHttp|limits|idempotencyKey|createRace).test.ts";
const PAGES = "test/http/@(checkout|checkoutEvents|checkoutRoutes|checkoutState|docs|embed|sdk|sdkBundle).test.ts";

export const TEST_RUN: TestRunSetup = {
  groups: [
    { name: "http, alone", files: [MEASURED, PAGES] },
    { name: "http", files: ["test/http/**"], isShared: true, preload: TEST_APIS },
    {
      name: "pure",
      files: [
        "src/{kernel,config,loops}/**",
        "src/http/{body,schema}/**",
        "src/chain/evm/filter/**",
        "src/chain/evm/rpc/rpcErrors.test.ts",
        "src/{chain/providers,deposit/finality,merchant/solanaWallet,merchant/keys/apiKey}.test.ts",
        "packages/inbox/test/!(hub|publishedPackage).test.ts",
        "packages/inbox/test/solana/**",
        "packages/recover/test/**",
        "packages/checkout/test/**",
        "test/architecture/**",
        "test/architecture.test.ts",
        "test/client/generated.test.ts",
        "test/docs/*.test.ts",
        "contracts/test/{pages,mutants,passed}.test.ts",
        "test/sim/chain/**",
      ],
      isShared: true,
    },
    {
      name: "stations",
      files: ["src/{event,idempotency,inbox,intent,ledger,merchant,settlement,view}/**"],
      isShared: true,
      preload: TEST_APIS,
    },
    { name: "watch", files: ["src/watch/**"], isShared: true },
    { name: "deposit", files: ["src/deposit/**"], isShared: true },
    { name: "road", files: ["test/road/**"], isShared: true },
    {
      name: "alone",
      files: ["src/{chain,db,deposit,dev,http,watch}/**", "packages/**", "contracts/**", "programs/**", "test/*/**"],
    },
  ],
  slowSeconds: {
    http: 40,
    stations: 40,
    road: 200,
    watch: 180,
    "test/cli/serve.test.ts": 46,
    "test/merchant/processes.test.ts": 34,
    "programs/test/fuzz.test.ts": 25,
    "test/checkout/demoShop.test.ts": 34,
    "test/cli/dev.test.ts": 32,
    "test/checkout/payment.test.ts": 30,
    "test/checkout/accessibility.test.ts": 18,
    "test/checkout/screens.test.ts": 14,
    "test/crash/crash.test.ts": 32,
    "test/sim/sim.test.ts": 30,
    "test/cost/history.test.ts": 25,
    "test/cost/dust.test.ts": 20,
    "test/cli/pay.test.ts": 20,
    "test/cli/watch.test.ts": 16,
    "test/cli/ledger.test.ts": 15,
    "test/cli/operate.test.ts": 15,
    "test/recover/offlineRecovery.test.ts": 15,
    "test/crash/shutdown.test.ts": 14,
    "src/chain/evm/send/nonceRecovery.test.ts": 14,
    "test/recover/theftAttempts.test.ts": 12,
    "test/tools/tools.test.ts": 12,
    "test/cli/hub.test.ts": 11,
    "src/db/pglite/pglite.test.ts": 10,
    "programs/test/exactAmounts.test.ts": 10,
  },
  startShared: shareTestServer,
};
