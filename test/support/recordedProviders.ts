import { pino } from "pino";
import type { Chain } from "../../src/chain/chain.ts";
import { createProof } from "../../src/chain/evm/proof.ts";
import { Providers } from "../../src/chain/providers.ts";
import { ProviderFailed, type ChainReader, type HeadTag, type Transfer } from "../../src/chain/reader.ts";
import type { Db } from "../../src/db/database.ts";
import type { Caip2 } from "../../src/kernel/caip.ts";
import type { Clock } from "../../src/kernel/clock.ts";

/** A provider that knows the movements that a test recorded, except in the transactions that it denies. */
class RecordedProvider implements Partial<ChainReader> {
  readonly caip2: Caip2;
  readonly name: string;
  readonly denied = new Set<string>();
  isAway = false;
  readonly #db: Db;

  constructor(db: Db, caip2: Caip2, name: string) {
    this.#db = db;
    this.caip2 = caip2;
    this.name = name;
  }

  identify = async () => ({ caip2: this.caip2, genesisHash: "0x00" });
  head = async (tag: HeadTag) => {
    if (this.isAway) throw new ProviderFailed("unreachable", "connection refused");
    const cursor = await this.#db.root
      .selectFrom("chain_cursor")
      .selectAll()
      .where("chain", "=", this.caip2)
      .executeTakeFirstOrThrow();
    const number = { latest: cursor.number, safe: cursor.safe_number, finalized: cursor.finalized_number }[tag];
    return { number, hash: `0x${number}`, parentHash: "", timestampS: 0 };
  };
  block = async (at: { number: bigint } | { hash: string }) =>
    "number" in at ? { number: at.number, hash: `0x${at.number}`, parentHash: "", timestampS: 0 } : undefined;
  proofs = async (chainTxs: readonly string[]) => {
    const rows = await this.#recorded((chainTx) => chainTxs.includes(chainTx));
    return rows.map((row) =>
      createProof({
        chainTx: row.chain_tx,
        blockNumber: row.block_number,
        blockHash: row.block_hash,
        succeeded: true,
        logIndexFirst: Number(row.place),
        logCount: 1,
      }),
    );
  };
  transfers = async (scope: object, tokens: readonly string[], inboxes: readonly string[]): Promise<Transfer[]> => {
    const rows = await this.#recorded(() => true);
    return rows
      .filter((row) => row.block_hash === Reflect.get(scope, "blockHash"))
      .filter((row) => tokens.includes(row.token) && inboxes.includes(row.inbox))
      .map((row) => ({
        token: row.token,
        from: row.counterparty,
        to: row.inbox,
        amountText: String(row.amount_units),
        chainTx: row.chain_tx,
        place: row.place,
        blockNumber: row.block_number,
        blockHash: row.block_hash,
      }));
  };

  balances = async (token: string, owners: readonly string[], at: { blockNumber: bigint }): Promise<bigint[]> => {
    if (this.isAway) throw new ProviderFailed("unreachable", "connection refused");
    const rows = (await this.#recorded(() => true)).filter(
      (row) => row.token === token && row.block_number <= at.blockNumber,
    );
    const sumOf = (owner: string) =>
      rows.reduce((sum, { inbox, direction, amount_units: units }) => {
        if (inbox !== owner) return sum;
        return direction === "in" ? sum + units : sum - units;
      }, 0n);
    return owners.map(sumOf);
  };

  async #recorded(isMeant: (chainTx: string) => boolean) {
    const rows = await this.#db.root
      .selectFrom("movement")
      .selectAll()
      .where("chain", "=", this.caip2)
      .where("orphaned_at", "is", null)
      .execute();
    return rows.filter(({ chain_tx }) => isMeant(chain_tx) && !this.denied.has(chain_tx));
  }
}

/**
 * A chain of two providers over the recorded movements, for the station that asks them. The second one denies, or is
 * away.
 */
export function recordedChain(
  db: Db,
  { caip2, clock }: { caip2: Caip2; clock: Clock },
): { chain: Chain; deny: (chainTx: string) => void; admitAll: () => void; setAway: (isAway: boolean) => void } {
  const [first, second] = [new RecordedProvider(db, caip2, "first"), new RecordedProvider(db, caip2, "second")];
  const readers = [first, second] as unknown as [ChainReader, ...ChainReader[]];
  const providers = new Providers(readers, { clock, log: pino({ level: "silent" }) });
  return {
    chain: { caip2, readers, providers } as unknown as Chain,
    deny: (chainTx) => void second.denied.add(chainTx),
    admitAll: () => second.denied.clear(),
    setAway: (isAway) => {
      second.isAway = isAway;
    },
  };
}
