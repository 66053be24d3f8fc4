import { toHttpError, RpcError } from "../../../src/chain/rpc/rpcError.ts";
import { ProviderFailed } from "../../../src/chain/reader.ts";
import { toProviderError, toSubmitOutcome } from "../../../src/chain/evm/rpc/rpcErrors.ts";
import { toProviderError as toSolanaError } from "../../../src/chain/solana/rpc/solanaErrors.ts";
import { classifyError } from "../../../src/kernel/errors/classifyError.ts";
import { PARTS, readCorpus, type Part, type RealText } from "./readCorpus.ts";

// Judges every classifier by the corpus.

/** What code acts on as a fact. Every other verdict only asks again, later or elsewhere. */
const DEFINITE: Readonly<Record<Part, readonly string[]>> = {
  read: ["CallReverted", "unknown_block", "range_too_large"],
  send: ["known", "nonce_used", "underpriced", "no_funds", "untakeable"],
  http: ["range_too_large"],
  solana: ["unknown_block"],
  database: ["data", "conflict"],
};

const CLASSIFIERS: Readonly<Record<Part, (text: RealText) => string>> = {
  read: (text) => kindOf(toProviderError("host", rpcError(text))),
  send: (text) => toSubmitOutcome(rpcError(text)).kind,
  http: ({ code, text }) => toHttpError("host", { status: Number(code), text }).kind,
  solana: (text) => kindOf(toSolanaError("host", rpcError(text))),
  database: ({ code, text }) => classifyError(databaseError(code, text)),
};

function rpcError({ code, text }: RealText): RpcError {
  return new RpcError(Number(code), text, undefined);
}

function kindOf(error: Error): string {
  return error instanceof ProviderFailed ? error.kind : error.name;
}

function databaseError(code: string, text: string): Error {
  const isFatal = code.startsWith("F:");
  return Object.assign(new Error(text), {
    code: isFatal ? code.slice(2) : code,
    severity: isFatal ? "FATAL" : "ERROR",
  });
}

export type Judged = RealText & { verdict: string; isRight: boolean; isWrongDefinite: boolean };

export function judgeCorpus(corpus = readCorpus()): Judged[] {
  return corpus.map((text) => {
    const verdict = CLASSIFIERS[text.part](text);
    const isRight = verdict === text.meaning;
    return { ...text, verdict, isRight, isWrongDefinite: !isRight && DEFINITE[text.part].includes(verdict) };
  });
}

export type PartScore = {
  part: Part;
  texts: number;
  right: number;
  heldOut: number;
  heldOutRight: number;
  wrong: number;
};

export function scoreParts(judged: readonly Judged[]): PartScore[] {
  return PARTS.map((part) => {
    const own = judged.filter((each) => each.part === part);
    const heldOut = own.filter(({ isHeldOut }) => isHeldOut);
    const right = (texts: readonly Judged[]) => texts.filter(({ isRight }) => isRight).length;
    return {
      part,
      texts: own.length,
      right: right(own),
      heldOut: heldOut.length,
      heldOutRight: right(heldOut),
      wrong: own.filter(({ isWrongDefinite }) => isWrongDefinite).length,
    };
  });
}
