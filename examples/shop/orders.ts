import { DatabaseSync } from "node:sqlite";

/**
 * `new` → `placed` once its intent is stored → `shipped`; `placed` or `shipped` → `stopped` when the intent is archived
 * or a payment was undone.
 */
export type OrderStatus = "new" | "placed" | "shipped" | "stopped";

export type Order = {
  reference: string;
  title: string;
  priceUnits: number;
  status: OrderStatus;
  intentId: string | null;
  /** How often it left the warehouse: never more than once. */
  shipments: number;
  /** How often an event has changed it. */
  changes: number;
};

/** The shop's own database. Its file survives the process. */
export class Orders {
  readonly #db: DatabaseSync;

  constructor(file: string) {
    this.#db = new DatabaseSync(file);
    this.#db.exec(`
      pragma journal_mode = wal;
      create table if not exists shop_order (
        reference text primary key, title text not null, price_units integer not null, status text not null,
        intent_id text unique, intent text, shipments integer not null default 0, changes integer not null default 0
      ) strict;
      create table if not exists seen_event (id text primary key) strict;`);
  }

  add({ reference, title, priceUnits }: Pick<Order, "reference" | "title" | "priceUnits">): void {
    this.#db
      .prepare("insert into shop_order (reference, title, price_units, status) values (?, ?, ?, 'new')")
      .run(reference, title, priceUnits);
  }

  /** `intent`: the whole response to the create. Its terms take the money out of the address without the service. */
  storeIntent(reference: string, intent: { intentId: string }): void {
    this.#db
      .prepare(
        "update shop_order set intent_id = ?, intent = ?, status = 'placed' where reference = ? and status = 'new'",
      )
      .run(intent.intentId, JSON.stringify(intent), reference);
  }

  findByReference(reference: string): Order | undefined {
    return this.#list("reference = ?", reference)[0];
  }

  findByIntent(intentId: string): Order | undefined {
    return this.#list("intent_id = ?", intentId)[0];
  }

  /** Orders that wait for their intent. */
  listNew(): Order[] {
    return this.#list("status = 'new'");
  }

  hasSeen(eventId: string): boolean {
    return this.#db.prepare("select 1 from seen_event where id = ?").get(eventId) !== undefined;
  }

  /**
   * Stores what an event led to, together with its id: after a crash either both are there or neither. An order ships
   * once, however often and in whatever order its events come. False, and nothing is stored, when another event has
   * changed the order since it was read: the intent may have been read before that event's.
   */
  apply(eventId: string, order: Pick<Order, "reference" | "status" | "changes">): boolean {
    const { reference, status, changes } = order;
    this.#db.exec("begin immediate");
    try {
      const isFresh =
        this.#db
          .prepare(
            `update shop_order set status = ?1, shipments = shipments + (?1 = 'shipped' and shipments = 0), changes = changes + 1
              where reference = ?2 and changes = ?3`,
          )
          .run(status, reference, changes).changes > 0;
      if (isFresh) this.#db.prepare("insert into seen_event (id) values (?)").run(eventId);
      this.#db.exec("commit");
      return isFresh;
    } catch (error) {
      this.#db.exec("rollback");
      throw error;
    }
  }

  close(): void {
    this.#db.close();
  }

  #list(condition: string, ...values: string[]): Order[] {
    const sql = `select reference, title, price_units as priceUnits, status, intent_id as intentId, shipments, changes
      from shop_order where ${condition}`;
    return this.#db.prepare(sql).all(...values) as Order[];
  }
}
