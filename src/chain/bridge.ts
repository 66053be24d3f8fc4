// The off-chain service of a bridge, of any kind. It proves to the settle chain what an inbox gave on another chain. It
// can delay a crossing and not divert it: the chains verify the proof, and the inbox's address commits to where the
// units go.

/** A transfer by which an inbox gave units to a bridge. Units are the token's smallest ones. */
export type BurnQuery = {
  /** The bridge's number of the settle chain. */
  readonly settleDomain: number;
  /** The inbox that gave them, and the account of the intent's own inbox, which gets them. The same on EVM chains. */
  readonly inbox: string;
  readonly recipient: string;
  readonly token: string;
  readonly units: bigint;
};

/** Burns whose proofs one transaction may hold. `domain`: the bridge's number of its chain. */
export type TransactionQuery = {
  readonly domain: number;
  readonly chainTx: string;
  readonly burns: readonly BurnQuery[];
};

/** A proof that the settle chain takes. */
export type BurnProof = {
  readonly message: string;
  readonly attestation: string;
  /** `explained_by` of the movement by which the bridge gives the units. */
  readonly mint: string;
  /** The last block of the settle chain that takes the proof; undefined for any. */
  readonly expiresAtBlock: bigint | undefined;
};

/**
 * `proven`: one proof for each burn of the transaction that fits the query. A transaction can hold several. `foreign`:
 * the service has signed messages of the transaction, and none is of this burn.
 */
export type BurnTracking =
  | { kind: "unseen" | "foreign" }
  | { kind: "pending"; reason: string | undefined }
  | { kind: "proven"; proofs: readonly BurnProof[] };

/**
 * What the bridge charges now from one domain to another, in millionths of the units; undefined where it offers no such
 * speed.
 */
export type BridgeFees = { fastPpm: number | undefined; standardPpm: number | undefined };

export interface BridgeService {
  /** All methods throw BridgeUnavailable when no sound answer came. Each is one request. */
  /** What it knows of each burn, in their order. */
  track(query: TransactionQuery): Promise<BurnTracking[]>;
  /**
   * Asks for a new proof of a burn whose proof has expired. `refused`: the service gives none, because it has a newer
   * one or needs none.
   */
  renew(mint: string): Promise<"requested" | "refused">;
  fees(pair: { domain: number; settleDomain: number }): Promise<BridgeFees>;
  close(): Promise<void>;
}

/** The service did not answer as it should. `isLimited`: it refuses further requests for some minutes. */
export class BridgeUnavailable extends Error {
  override readonly name = "BridgeUnavailable";
  readonly isLimited: boolean;

  constructor(message: string, { isLimited = false, ...options }: ErrorOptions & { isLimited?: boolean } = {}) {
    super(message, options);
    this.isLimited = isLimited;
  }
}
