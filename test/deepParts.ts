import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { DeepPart } from "../scripts/tests/deepParts.ts";
import { DEEP_FILES } from "./deepFiles.ts";
import { plantedBugs } from "./plantedBugs/plantedBugs.ts";
import { mutants } from "./sim/mutants.ts";

// What takes too long for every commit. `npm test` has a sample of each of these; a share of them runs after it in
// .ci/run.

const SEEDS = 300;
const SEEDS_PER_PART = 50;
/** With endpoints of webhooks beside everything else. */
const ENDPOINT_SEEDS = 20;
const ENDPOINT_SEEDS_PER_PART = 10;
const MUTANTS_PER_PART = 2;
/** Each part ends a process at every so many steps, and the parts together at all of them. */
const CRASH_STRIDE = 4;
const KILLS_PER_PART = 20;
const DELIVERY_KILLS = 50;
const DELIVERY_KILL_PARTS = 2;
const PAIR_RUNS = 50;
const PAIR_RUNS_PER_PART = 2;
const KILLS_PER_PAIR_RUN = 6;
const PROGRAM_MUTANT_PARTS = 8;
/** A number that three does not divide: what becomes of the sent transactions changes with every end of a process. */
const SOLANA_CRASH_PARTS = 7;
/** Of 50 seeds with 25 payments each. */
const ASKED_PARTS = 8;
/** Files that only the deep tests run are joined to parts of about this long. */
const FILES_SECONDS = 60;
const PROPERTY_PARTS = 3;
const SAMPLED_PARTS = 10;
/** Of 20 seeds with 50 intents each. */
const MONEY_PARTS = 2;
/** Of 50 loads of the page each. */
const SLOW_PARTS = 4;

/** Their figures mean nothing at this size: each runs, so that none breaks unseen. */
export const SMALL_BENCHES: readonly (readonly string[])[] = [
  ["burns", "--second=5", "--third=2000"],
  ["http", "--only=create,get,list", "--runs=1", "--accounts=1000"],
  ["dust", "--transfers=100", "--per-block=20"],
  ["dust", "--at-once=600", "--rounds=1"],
  ["history", "--movements=200", "--payments=2"],
  ["history", "--skewed", "--movements=2000", "--payments=2"],
  ["throughput", "--movements=200", "--runs=1"],
  ["floods", "--requests=500"],
  ["webhooks", "--small"],
  ["gas"],
  ["strangers"],
  ["solana"],
  ["detect", "--only=live", "--small"],
  ["outage", "--small", "--runs=1"],
  ...["road", "size", "timing", "bridge", "checkout", "backfill", "scale", "dashboard"].map((name) => [
    name,
    "--small",
  ]),
];

export const DEEP_PARTS: readonly DeepPart[] = [
  { name: "everything is recovered without the service", command: ["test/drill/main.ts"], seconds: 35 },
  { name: "the same by the page", command: ["test/drill/main.ts", "--page"], seconds: 60 },
  { name: "the contracts under the rules of the next fork", command: ["test/forks/main.ts"], seconds: 90 },
  { name: "every command of the documents", command: ["--no-warnings", "test/walk/main.ts"], seconds: 90 },
  ...fileParts(),
  ...propertyParts(),
  ...sampledParts(),
  ...seedParts(),
  ...endpointSeedParts(),
  ...mutantParts(),
  ...crashParts(),
  ...programMutantParts(),
  ...plantedBugs.map(({ name }) => ({
    name: `a planted bug: ${name}`,
    command: ["test/sim/runMutants.ts", "--only=tests", name],
    seconds: 30,
  })),
  ...[0, 1, 2, 3].map((first) => ({
    name: `a process ends before each statement on the way across chains, ${first + 1} of 4`,
    command: ["scripts/test.ts", "--workers=1", "test/road/crossingCrash.test.ts"],
    environment: { TRIBUTARY_CRASH_FIRST: String(first), TRIBUTARY_CRASH_STRIDE: "4" },
    seconds: 100,
  })),
  ...[0, 1, 2, 3].map((part) => ({
    name: `a process ends before each 80th statement on the way between Solana and an EVM chain, ${part + 1} of 4`,
    command: ["scripts/test.ts", "--workers=1", "test/road/solanaCrossingCrash.test.ts"],
    environment: { TRIBUTARY_CRASH_FIRST: String(7 + 80 * part), TRIBUTARY_CRASH_STRIDE: "320" },
    seconds: 80,
  })),
  ...Array.from({ length: SOLANA_CRASH_PARTS }, (_, first) => ({
    name: `a process ends before each statement while a payment on Solana settles, ${first + 1} of ${SOLANA_CRASH_PARTS}`,
    command: ["scripts/test.ts", "--workers=1", "test/road/solanaCrash.test.ts"],
    environment: { TRIBUTARY_CRASH_FIRST: String(first), TRIBUTARY_CRASH_STRIDE: String(SOLANA_CRASH_PARTS) },
    seconds: 100,
  })),
  {
    name: `${KILLS_PER_PART} kills while payments on Solana settle`,
    command: ["test/chaos/main.ts", "solana", "--kills", String(KILLS_PER_PART)],
    seconds: 60,
  },
  {
    name: "every lie of a Solana provider, in front of the honest ones and behind them",
    command: ["scripts/test.ts", "--workers=1", "test/road/solanaProviders.test.ts"],
    environment: { PROVIDER_LIES: "all" },
    seconds: 60,
  },
  ...[1, 2].map((part) => ({
    name: `${KILLS_PER_PART} kills under load, ${part} of 2`,
    command: ["test/chaos/main.ts", "kill", "--kills", String(KILLS_PER_PART)],
    seconds: 60,
  })),
  ...Array.from({ length: DELIVERY_KILL_PARTS }, (_, part) => ({
    name: `${DELIVERY_KILLS / DELIVERY_KILL_PARTS} kills during deliveries of webhooks, ${part + 1} of ${DELIVERY_KILL_PARTS}`,
    command: ["scripts/test.ts", "--workers=1", "test/failover/killedDelivery.test.ts"],
    environment: {
      TRIBUTARY_DELIVERY_KILLS: String(DELIVERY_KILLS / DELIVERY_KILL_PARTS),
      TRIBUTARY_DELIVERY_SEED: String(part),
    },
    seconds: 60,
  })),
  {
    name: "an upgrade of the database under load",
    command: ["test/chaos/main.ts", "upgrade"],
    seconds: 60,
  },
  {
    // .ci/run installs the programs when it runs this part.
    name: "a primary that Patroni replaces under load",
    command: ["test/chaos/main.ts", "patroni", "--if-installed"],
    seconds: 90,
  },
  {
    name: "a switchover of the database under load",
    command: ["test/chaos/main.ts", "switchover"],
    seconds: 60,
  },
  ...SMALL_BENCHES.map((parameters) => ({
    name: `a bench at its smallest size: ${parameters.join(" ")}`,
    command: ["test/bench/main.ts", ...parameters],
    seconds: 45,
  })),
  ...pairParts(),
  ...["test/http/{create,record}*/**", "test/http/{archive,get,list,replace,update}*/**"].map((files) => ({
    name: `each file a process: ${files}`,
    command: ["scripts/test.ts", "--isolate", "--workers=1", files],
    seconds: 55,
  })),
  ...[
    "programs/test/!(fuzz|build|mutants).test.ts",
    "src/{chain,db}/**",
    "test/http/@(check|limits|idem|createR)*.ts",
  ].map((files) => ({
    name: `each file a process: ${files}`,
    command: ["scripts/test.ts", "--isolate", "--workers=1", files],
    seconds: 55,
  })),
  {
    name: "each file a process: stations",
    command: ["scripts/test.ts", "--isolate", "--workers=1", "src/{event,inbox,intent,ledger,merchant,view}/**"],
    seconds: 45,
  },
  ...[
    "src/watch/**",
    "src/deposit/**",
    "src/{settlement,event,priming,http,chain/solana}/**",
    "src/{webhook,ledger,idempotency,intent,inbox,merchant}/**",
    "src/db/**",
    "test/http/{checkoutEvents,feedStreams,idempotencyKey,providerHints}.test.ts",
    "test/{migrations,schema}/**",
    "test/road/{ledger,purge*,settle,settleFees}.test.ts",
  ].map((files) => ({
    name: `on the embedded database: ${files}`,
    command: ["scripts/test.ts", "--workers=1", files],
    environment: { TEST_DATABASE: "pglite" },
    seconds: 60,
  })),
  ...["{accounts,dev,exampleShop,explorer,help,hub}", "{init,ledger,operate,pay}", "{secretLeaks,usageErrors,w*}"].map(
    (files) => ({
      name: `each command once as a process: test/cli/${files}.test.ts`,
      command: ["scripts/test.ts", "--workers=1", `test/cli/${files}.test.ts`],
      seconds: 90,
    }),
  ),
  ...["fuzz", "rounds"].map((seed) => ({
    name: `20,000 random instructions for the inbox program on Solana, seed ${seed}`,
    command: ["scripts/test.ts", "--workers=1", "programs/test/fuzz.test.ts"],
    environment: { TRIBUTARY_FUZZ_ROUNDS: "20000", TRIBUTARY_FUZZ_SEED: seed },
    seconds: 25,
  })),
  {
    name: "a blocked fee wallet and a batch of 100",
    command: ["scripts/test.ts", "--workers=1", "test/road/blockedFeeWallet.test.ts"],
    environment: { BATCH_SIZES: "100" },
    seconds: 20,
  },
  {
    name: "statements in every setting of statistics and plans",
    command: ["--no-warnings", "test/cost/main.ts", "--movements", "20000"],
    seconds: 300,
  },
  {
    name: "statements after a million movements",
    command: ["--no-warnings", "test/cost/main.ts", "--movements", "1000000", "--only", "even, analysed now, auto"],
    seconds: 300,
  },
  {
    name: "batches at 2,000 gas limits up to the block's",
    command: ["contracts/scripts/fuzz.ts", "--match-contract", "GasLimits"],
    environment: { GAS_LIMIT_STEPS: "2000" },
    seconds: 240,
  },
  {
    name: "every sequence of three calls of the hub on every small state",
    command: ["contracts/scripts/fuzz.ts", "--match-contract", "Exhaustive"],
    environment: { EXHAUSTIVE_CALLS: "3" },
    seconds: 150,
  },
  ...Array.from({ length: MONEY_PARTS }, (_, part) => ({
    name: `1,000 intents with random money on three chains, ${part + 1} of ${MONEY_PARTS}`,
    command: ["scripts/test.ts", "--workers=1", "src/deposit/decide/randomMoney.test.ts"],
    environment: { TRIBUTARY_MONEY_FIRST: String(part * 20 + 1), TRIBUTARY_MONEY_SEEDS: "20" },
    seconds: 120,
  })),
  ...Array.from({ length: ASKED_PARTS }, (_, part) => ({
    name: `1,250 random payments of what the page asks for, ${part + 1} of ${ASKED_PARTS}`,
    command: ["scripts/test.ts", "--workers=1", "src/http/checkout/state/remaining.test.ts"],
    environment: { TRIBUTARY_ASKED_FIRST: String(part * 50 + 1), TRIBUTARY_ASKED_SEEDS: "50" },
    seconds: 170,
  })),
  {
    name: "every screen of the checkout page",
    command: ["scripts/test.ts", "--workers=1", "test/checkout/accessibility.test.ts"],
    environment: { CHECKOUT_SCREENS: "all" },
    seconds: 70,
  },
  ...Array.from({ length: SLOW_PARTS }, (_, part) => ({
    name: `200 loads of the checkout page on slow lines, ${part + 1} of ${SLOW_PARTS}`,
    command: ["scripts/test.ts", "--workers=1", "test/checkout/slowLine.test.ts"],
    environment: { SLOW_LOADS: "50", SLOW_SEED: `slow line ${part + 1}` },
    seconds: 120,
  })),
  {
    name: "foreign tools on the OpenAPI document, from the package registry",
    command: ["--no-warnings", "test/client/foreign/main.ts"],
    seconds: 25,
  },
  {
    name: "forge and the model checker, whatever has passed before",
    command: ["scripts/test.ts", "--workers=1", "contracts/test/{artifacts,doubles,forge,proofs}.test.ts"],
    environment: { FORGE_ALWAYS: "1" },
    seconds: 40,
  },
];

/** The files that only the deep tests run, each in one part. */
function fileParts(): DeepPart[] {
  const parts: { files: string[]; seconds: number }[] = [];
  for (const [file, seconds] of Object.entries(DEEP_FILES).filter(([, each]) => each > 0)) {
    const last = parts.at(-1);
    if (last === undefined || last.seconds + seconds > FILES_SECONDS) parts.push({ files: [file], seconds });
    else {
      last.files.push(file);
      last.seconds += seconds;
    }
  }
  return parts.map(({ files, seconds }) => ({
    name: `files: ${files.join(", ")}`,
    command: ["scripts/test.ts", "--workers=1", ...files],
    seconds,
  }));
}

/** The tests with random values, which each run draws anew. */
function propertyParts(): DeepPart[] {
  return partsOf("/support/properties.ts", { name: "properties with the values of this run", count: PROPERTY_PARTS });
}

/** The tests that `npm test` runs in part. */
function sampledParts(): DeepPart[] {
  return partsOf("/support/runNumber.ts", { name: "what every commit runs a sample of", count: SAMPLED_PARTS });
}

/** Parts with the test files that import a module. */
function partsOf(module: string, { name, count }: { name: string; count: number }): DeepPart[] {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const files = globSync(["{src,test}/**/*.test.ts", "packages/*/test/**/*.test.ts"], { cwd: root })
    .filter((file) => !Object.hasOwn(DEEP_FILES, file))
    .filter((file) => readFileSync(`${root}${file}`, "utf8").includes(`${module}";`))
    .toSorted();
  return Array.from({ length: count }, (_, part) => ({
    name: `${name}, ${part + 1} of ${count}`,
    command: ["scripts/test.ts", "--workers=1", ...files.filter((_, place) => place % count === part)],
    seconds: 60,
  }));
}

function seedParts(): DeepPart[] {
  return Array.from({ length: SEEDS / SEEDS_PER_PART }, (_, part) => {
    const from = 1 + part * SEEDS_PER_PART;
    const command = ["test/sim/main.ts", "--from", String(from), "--seeds", String(SEEDS_PER_PART)];
    return { name: `simulator seeds ${from} to ${from + SEEDS_PER_PART - 1}`, command, seconds: 27 };
  });
}

function endpointSeedParts(): DeepPart[] {
  return Array.from({ length: ENDPOINT_SEEDS / ENDPOINT_SEEDS_PER_PART }, (_, part) => {
    const from = 1 + part * ENDPOINT_SEEDS_PER_PART;
    const range = ["--from", String(from), "--seeds", String(ENDPOINT_SEEDS_PER_PART)];
    const name = `simulator seeds ${from} to ${from + ENDPOINT_SEEDS_PER_PART - 1} with endpoints of webhooks`;
    return { name, command: ["test/sim/main.ts", "--endpoints", ...range], seconds: 60 };
  });
}

function mutantParts(): DeepPart[] {
  const names = mutants.map(({ name }) => name);
  return Array.from({ length: Math.ceil(names.length / MUTANTS_PER_PART) }, (_, part) => {
    const chosen = names.slice(part * MUTANTS_PER_PART, (part + 1) * MUTANTS_PER_PART);
    return { name: `planted bugs: ${chosen.join(", ")}`, command: ["test/sim/runMutants.ts", ...chosen], seconds: 30 };
  });
}

/** Two processes over one database, with kills and reorgs. The parts have seeds of their own. */
function pairParts(): DeepPart[] {
  return Array.from({ length: PAIR_RUNS / PAIR_RUNS_PER_PART }, (_, part) => {
    const seed = 1 + part * PAIR_RUNS_PER_PART;
    const sizes = ["--runs", String(PAIR_RUNS_PER_PART), "--kills", String(KILLS_PER_PAIR_RUN), "--seed", String(seed)];
    const name = `two processes with kills and reorgs, runs ${seed} to ${seed + PAIR_RUNS_PER_PART - 1}`;
    return { name, command: ["test/chaos/main.ts", "pair", ...sizes], seconds: 55 };
  });
}

/** Planted bugs of the inbox program on Solana; they need clang-19. */
function programMutantParts(): DeepPart[] {
  return Array.from({ length: PROGRAM_MUTANT_PARTS }, (_, index) => {
    const part = `${index + 1}/${PROGRAM_MUTANT_PARTS}`;
    return {
      name: `planted bugs in the inbox program, ${part}`,
      command: ["programs/scripts/mutants.ts", "--part", part],
      seconds: 60,
    };
  });
}

function crashParts(): DeepPart[] {
  const offsets = Array.from({ length: CRASH_STRIDE }, (_, index) => 1 + index);
  return ["pglite", "postgres"].flatMap((database) =>
    ["before", "after"].flatMap((moment) =>
      offsets.map((first) => {
        const range = ["--first", String(first), "--stride", String(CRASH_STRIDE)];
        const name = `a process ends ${moment} each step on ${database}, ${first} of ${CRASH_STRIDE}`;
        return { name, command: ["test/crash/sweep.ts", database, moment, ...range], seconds: 50 };
      }),
    ),
  );
}
