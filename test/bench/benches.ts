// Each benchmark measures a figure and its reference in the same run. Each is loaded on demand, so that none loads
// another's dependencies.

export const BENCHES: Readonly<Record<string, () => Promise<void>>> = {
  backfill: async () => (await import("./backfill.ts")).benchBackfill(),
  burns: async () => (await import("./burns.ts")).benchBurns(),
  bridge: async () => (await import("./bridge.ts")).benchBridge(),
  checkout: async () => (await import("./checkout.ts")).benchCheckout(),
  dashboard: async () => (await import("./dashboard.ts")).benchDashboard(),
  detect: async () => (await import("./detect.ts")).benchDetect(),
  dust: async () => (await import("./dust.ts")).benchDust(),
  floods: async () => (await import("./floods.ts")).benchFloods(),
  gas: async () => (await import("./gas.ts")).benchGas(),
  history: async () => (await import("./history.ts")).benchHistory(),
  http: async () => (await import("./http.ts")).benchHttp(),
  outage: async () => (await import("./outage.ts")).benchOutage(),
  road: async () => (await import("./road.ts")).benchRoad(),
  scale: async () => (await import("./scale.ts")).benchScale(),
  solana: async () => (await import("./solana.ts")).benchSolana(),
  size: async () => (await import("./size.ts")).benchSize(),
  strangers: async () => (await import("./strangers.ts")).benchStrangers(),
  throughput: async () => (await import("./throughput.ts")).benchThroughput(),
  webhooks: async () => (await import("./webhooks.ts")).benchWebhooks(),
  timing: async () => (await import("./timing.ts")).benchTiming(),
};
