/** The result of one check. */
export type Finding = {
  what: string;
  /** `warn` informs the operator. Only `fail` makes the command exit with 1. */
  verdict: "ok" | "warn" | "fail";
  found: string;
};
