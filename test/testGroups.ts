import type { TestRunSetup } from "../scripts/tests/groups.ts";
import { DEEP_FILES } from "./deepFiles.ts";
import { shareTestServer } from "./support/database.ts";

// Which files of `npm test` share a process. A file of a shared group opens databases, accounts and chains of its own,
// and leaves the clock and the environment as they were. Files that measure, start services or read the processes of
// the machine run alone.

/** Modules whose one instance all files of a process use. */
const TEST_APIS = ["test/support/api.ts", "test/support/remoteGateApi.ts", "test/support/testDatabaseFailures.ts"];

/** Files of the operations' folder that measure memory or sockets. */
const ALONE = "test/http/@(connectionLimits|memory|rawHttp).test.ts";
const CONCURRENT = "test/http/@(limits|idempotencyKey|createRace).test.ts";
const PAGES =
  "test/http/@(checkout|checkoutEvents|checkoutRoutes|checkoutState|dashboard|dashboardChanges|dashboardPages|dashboardTeam|dashboardTenancy|docs|ops).test.ts";

export const TEST_RUN: TestRunSetup = {
  groups: [
    { name: "http, alone", files: [ALONE] },
    {
      name: "pages in frames",
      files: ["test/http/{embed,sdk,sdkBundle}.test.ts"],
      isShared: true,
      preload: [...TEST_APIS, "test/support/sharedBrowser.ts"],
    },
    { name: "pages", files: [PAGES], isShared: true, preload: [...TEST_APIS, "test/support/sharedBrowser.ts"] },
    { name: "http, concurrent", files: [CONCURRENT], isShared: true, preload: TEST_APIS },
    { name: "http", files: ["test/http/**"], isShared: true, preload: TEST_APIS },
    {
      name: "pure",
      files: [
        "src/{kernel,config,loops,operator,cli}/**",
        "src/http/{body,schema}/**",
        "src/chain/evm/filter/**",
        "src/chain/evm/rpc/rpcErrors.test.ts",
        "src/chain/evm/network/*.test.ts",
        "test/support/reality/corpus.test.ts",
        "src/{chain/verifyChain,chain/solana/bridge/*,dev/chains/removeDuplicateGenesis}.test.ts",
        "src/{chain/providers,deposit/finality,merchant/solanaWallet,merchant/keys/apiKey}.test.ts",
        "packages/inbox/test/!(hub|publishedPackage).test.ts",
        "packages/inbox/test/solana/**",
        "packages/recover/test/**",
        "packages/checkout/test/**",
        "packages/dashboard/test/**",
        "test/architecture/**",
        "test/architecture.test.ts",
        "test/client/{generated,webhooks}.test.ts",
        "test/docs/*.test.ts",
        "test/networks/{catalogue,refused}.test.ts",
        "contracts/test/{pages,mutants,passed}.test.ts",
        "test/sim/{chain/**,parseArguments.test.ts}",
        "test/tools/deepShares.test.ts",
      ],
      isShared: true,
    },
    {
      name: "stations",
      files: [
        "src/{bridge,event,idempotency,inbox,intent,ledger,merchant,priming,settlement,view,webhook}/**",
        "test/support/reusedDatabases.test.ts",
        "test/schema/**",
        "test/migrations/**",
      ],
      isShared: true,
      preload: TEST_APIS,
    },
    { name: "watch", files: ["src/watch/**"], isShared: true },
    { name: "deposit", files: ["src/deposit/**"], isShared: true },
    {
      name: "road of crossings",
      files: ["test/road/{crossing*,smallBurns,swappedProofs,suspense,hiddenBurn,mintChanges}.test.ts"],
      isShared: true,
    },
    { name: "road of Solana", files: ["test/road/{solana*,evmCrossing,primedAccounts}.test.ts"], isShared: true },
    { name: "road", files: ["test/road/**"], isShared: true },
    {
      name: "programs",
      files: ["programs/test/!(fuzz|build|mutants).test.ts"],
      isShared: true,
      preload: [
        "programs/test/support/world.ts",
        "programs/test/support/scene.ts",
        "programs/test/support/cctpWorld.ts",
      ],
    },
    {
      name: "Solana",
      files: ["test/solana/**", "src/chain/solana/{send,priming}/**"],
      isShared: true,
      preload: ["test/support/solanaInboxes.ts", "test/support/solanaKit.ts"],
    },
    {
      name: "local Solana",
      files: ["packages/local-solana/**"],
      isShared: true,
      preload: ["test/support/solana.ts"],
    },
    {
      name: "chain",
      files: [
        "test/networks/doctorNetwork.test.ts",
        "src/chain/{checkedReader,rpc/*,evm/*,evm/bridge/*,evm/rpc/*,evm/send/!(nonceRecovery),solana/*}.test.ts",
      ],
      isShared: true,
    },
    {
      name: "database",
      files: ["src/db/{database,migrate,parameters}.test.ts", "src/db/{pglite,postgres}/!(pglite).test.ts"],
      isShared: true,
    },
    { name: "commands", files: ["test/cli/{explorer,help,hub,init,serve,watch}.test.ts"], isShared: true },
    { name: "contracts", files: ["contracts/**", "packages/inbox/**"], isShared: true },
    {
      name: "commands beside a dev world",
      files: ["test/cli/{accounts,exampleShop,ledger,pay,usageErrors,webhooks}.test.ts"],
      isShared: true,
      preload: ["test/support/devWorld.ts"],
    },
    {
      name: "checkout beside a dev world",
      files: ["test/checkout/{demoShop,embeddedPayment,marks,payment,readmeCheck,solanaPayment}.test.ts"],
      isShared: true,
      preload: ["test/support/devWorld.ts", "test/support/sharedBrowser.ts"],
    },
    {
      name: "checkout",
      files: ["test/checkout/**"],
      isShared: true,
      preload: [...TEST_APIS, "test/support/sharedBrowser.ts"],
    },
    { name: "recover", files: ["test/recover/**"], isShared: true, preload: ["test/support/sharedBrowser.ts"] },
    { name: "cost", files: ["test/cost/**"], isShared: true },
    {
      name: "server",
      files: [
        "src/http/**",
        "src/db/serverClock.test.ts",
        "test/client/{apiKey,client,events}.test.ts",
        "test/conformance/**",
      ],
      isShared: true,
      preload: TEST_APIS,
    },
    {
      name: "alone",
      files: ["src/{chain,db,deposit,dev,http,watch}/**", "packages/**", "contracts/**", "programs/**", "test/*/**"],
    },
  ],
  slowSeconds: {
    road: 60,
    "road of crossings": 45,
    "road of Solana": 25,
    watch: 70,
    "test/cli/operate.test.ts": 20,
    "commands beside a dev world": 60,
    "checkout beside a dev world": 70,
    checkout: 15,
    cost: 30,
    recover: 50,
    "test/alarm/alarms.test.ts": 20,
    server: 30,
    commands: 60,
    contracts: 20,
    "test/cli/dev.test.ts": 22,
    http: 60,
    pages: 60,
    stations: 50,
    "test/crash/crash.test.ts": 14,
    "test/sim/sim.test.ts": 30,
    database: 40,
    chain: 35,
    "test/merchant/processes.test.ts": 34,
    "http, concurrent": 30,
    deposit: 30,
    "test/cli/secretLeaks.test.ts": 30,
    programs: 25,
    "pages in frames": 40,
    "test/http/connectionLimits.test.ts": 15,
    "test/crash/shutdown.test.ts": 18,
    "src/chain/evm/send/nonceRecovery.test.ts": 14,
    "programs/test/fuzz.test.ts": 12,
    "src/db/pglite/pglite.test.ts": 10,
    "test/fuzz/fuzz.test.ts": 15,
  },
  deepFiles: DEEP_FILES,
  startShared: shareTestServer,
};
