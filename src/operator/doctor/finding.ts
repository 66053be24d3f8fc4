/** One thing that was examined, and what was found. */
export type Finding = {
  what: string;
  /** `attention` is for a person to know; only `wrong` fails the command. */
  verdict: "right" | "attention" | "wrong";
  found: string;
};
