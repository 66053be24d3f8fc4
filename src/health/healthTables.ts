declare module "../db/schema.ts" {
  interface Schema {
    service_process: ServiceProcessTable;
  }
}

/** A process that runs, or ran within the last day. */
export type ServiceProcessTable = {
  id: string;
  roles: string[];
  version: string;
  started_at: Date;
  seen_at: Date;
};
