import type { AlarmName } from "../kernel/alarm/alarmTable.ts";

/** What a check found. `subject` tells alarms of one name apart: a chain, a provider, a key. It may be empty. */
export type AlarmCondition = {
  readonly alarm: AlarmName;
  readonly subject: string;
  /** Further fields for logs and answers. Amounts are texts. */
  readonly facts: AlarmDetails;
};

export type AlarmDetails = Readonly<Record<string, string | number | boolean | null>>;

/** An alarm that is not over. */
export type ActiveAlarm = AlarmCondition & { readonly since: Date };
