// What the operator's page is drawn from. The server reads it, and hands it to the page's script as JSON.

export type OpsAmount = { readonly decimal: string; readonly symbol: string };

export type OpsAlarm = {
  readonly alarm: string;
  readonly subject: string;
  /** The chain's name, where it is about one. */
  readonly chainName: string | null;
  readonly since: string;
  readonly happened: string;
  readonly affects: string;
  readonly remedy: string;
  readonly facts: Readonly<Record<string, string | number | boolean | null>>;
};

export type OpsStationName = "intent" | "inbox" | "watch" | "deposit" | "settlement" | "bridge" | "payout" | "webhook";

export type OpsStation = {
  readonly name: OpsStationName;
  /** What waits there; null when it is not known. */
  readonly waiting: number | null;
  readonly oldestMs: number | null;
  /** What passed within the period of the rates; null when it is not counted. */
  readonly passed: number | null;
  /** `slow`: something waits too long. `stuck`: nothing moves. */
  readonly flow: "flowing" | "slow" | "stuck";
  /** Parts of what waits, such as 3 planned, where a station has several. */
  readonly parts: Readonly<Record<string, number>>;
};

export type OpsProvider = {
  readonly name: string;
  readonly state: "ok" | "behind" | "silent";
  readonly lagBlocks: string | null;
};

export type OpsChain = {
  readonly chain: string;
  readonly name: string;
  readonly recordedBlock: string | null;
  readonly behindBlocks: string | null;
  /** Since the last scan. */
  readonly scannedMs: number | null;
  readonly isScanned: boolean;
  /** Null: this process asks no providers. */
  readonly providers: readonly OpsProvider[] | null;
  /** The rules of finality, smallest sums first. */
  readonly finality: readonly { readonly rule: string; readonly upTo: string | null }[];
  readonly gas: OpsGas | null;
  readonly transfersPassed: number;
};

export type OpsGas = {
  readonly account: string;
  readonly balance: OpsAmount;
  /** Null: a settlement costs nothing at this moment. */
  readonly settlementsLeft: string | null;
  /** At the rate at which this process saw it fall; null before it has seen that for an hour. */
  readonly daysLeft: number | null;
  readonly price: string;
  readonly isLow: boolean;
  readonly isEmpty: boolean;
};

export type OpsTransaction = {
  readonly chainName: string;
  readonly nonce: string | null;
  readonly attempts: number;
  readonly settlements: number;
  readonly ageMs: number;
};

export type OpsCrossing = {
  readonly intentId: string;
  readonly from: string;
  readonly to: string;
  readonly amount: OpsAmount;
  readonly status: string;
  readonly reason: string | null;
  readonly ageMs: number;
};

export type OpsHeld = {
  readonly depositId: string;
  readonly intentId: string;
  readonly accountName: string;
  readonly amount: OpsAmount;
  readonly chainName: string;
  readonly reason: string;
  readonly since: string;
};

export type OpsBooks = {
  /** Inboxes whose balance on a chain differs from the ledger. */
  readonly differences: number;
  /** Whole passes over the inboxes, the newest of each chain. */
  readonly passes: readonly { readonly chainName: string; readonly compared: string; readonly completedAt: string }[];
};

export type OpsProcess = {
  readonly id: string;
  readonly roles: readonly string[];
  readonly version: string;
  readonly startedAt: string;
};

export type OpsDatabase = {
  readonly kind: "postgres" | "pglite";
  readonly answerMs: number;
  readonly sizeBytes: number | null;
  readonly connections: { readonly used: number; readonly max: number } | null;
  readonly oldestTransactionMs: number | null;
  readonly freeBytes: number | null;
  readonly clockDifferenceMs: number | null;
};

export type OpsEndpoint = {
  readonly endpointId: string;
  readonly host: string;
  readonly accountName: string;
  readonly status: string;
  readonly failingSince: string | null;
  readonly waitingMs: number | null;
};

export type OpsState = {
  readonly installation: {
    readonly host: string;
    readonly environment: "test" | "live";
    readonly version: string;
    readonly nodeVersion: string;
  };
  /** When all of this was read; null before the first time. */
  readonly readAt: string | null;
  /** How long ago that was, when the state was sent. */
  readonly ageMs: number;
  /** Why the last reading failed; null when it succeeded. */
  readonly failure: string | null;
  readonly alarmKinds: number;
  readonly alarms: readonly OpsAlarm[];
  /** The period in which `passed` was counted. */
  readonly ratesMs: number;
  readonly road: readonly OpsStation[];
  readonly chains: readonly OpsChain[];
  readonly transactions: readonly OpsTransaction[];
  readonly crossings: readonly OpsCrossing[];
  readonly held: { readonly count: number; readonly shown: readonly OpsHeld[] };
  readonly books: OpsBooks | null;
  readonly processes: readonly OpsProcess[];
  readonly database: OpsDatabase | null;
  readonly endpoints: readonly OpsEndpoint[];
};

/** What a search found: intents, each with its deposits and settlements. */
export type OpsFound = {
  readonly intentId: string;
  readonly accountId: string;
  readonly accountName: string;
  readonly merchantReference: string | null;
  readonly status: string;
  readonly paymentStatus: string;
  readonly price: OpsAmount | null;
  readonly received: OpsAmount;
  readonly inboxAddress: string;
  readonly createdAt: string;
  readonly deposits: readonly {
    readonly depositId: string;
    readonly amount: OpsAmount;
    readonly chainName: string;
    readonly status: string;
    readonly reason: string | null;
    readonly txHash: string;
    readonly seenAt: string;
  }[];
  readonly settlements: readonly {
    readonly settlementId: string;
    readonly net: OpsAmount | null;
    readonly chainName: string;
    readonly status: string;
    readonly reason: string | null;
    readonly txHash: string | null;
    readonly createdAt: string;
  }[];
};

export type OpsSearch = { readonly query: string; readonly found: readonly OpsFound[]; readonly hasMore: boolean };

/** Data older than this is not shown as the present. */
const FRESH_MS_MAX = 30_000;

export type Verdict =
  | { readonly kind: "well"; readonly toWatch: number }
  | { readonly kind: "needed"; readonly count: number; readonly toWatch: number }
  | { readonly kind: "unknown" };

export function isNeeded({ affects }: OpsAlarm): boolean {
  return !affects.startsWith("Nobody");
}

/** `ageMs`: how old the state is now. */
export function decideVerdict({ readAt, alarms }: OpsState, ageMs: number): Verdict {
  if (readAt === null || ageMs > FRESH_MS_MAX) return { kind: "unknown" };
  const count = alarms.filter(isNeeded).length;
  const toWatch = alarms.length - count;
  return count === 0 ? { kind: "well", toWatch } : { kind: "needed", count, toWatch };
}

/** Somebody affected first, then the oldest. */
export function orderAlarms(alarms: readonly OpsAlarm[]): OpsAlarm[] {
  return alarms.toSorted(
    (one, other) => Number(isNeeded(other)) - Number(isNeeded(one)) || one.since.localeCompare(other.since),
  );
}

/** The commands that a remedy names, with the intent of the alarm's facts where it has one. */
export function commandsOf({ remedy, facts }: OpsAlarm): string[] {
  const named = [...remedy.matchAll(/`(tributary [^`]+)`/g)].map(([, text = ""]) => text);
  const { intent } = facts;
  const filled = named.map((text) => (typeof intent === "string" ? text.replace("<intentId>", intent) : text));
  return [...new Set(filled)].map((text) => `npx ${text}`);
}
