import type { RpcRequester } from "./rpcRequester.ts";
import { decodeBatch, encodeBatch, type BatchAnswer, type BatchEntry } from "./batchProgram.ts";
import { classifyRefusal } from "./patientRequester.ts";

/** Asks many contracts with few requests. */
export type ContractReader = {
  /** `words`: the most words of an answer. `onProgress` gets the number of answered entries. */
  ask(entries: readonly BatchEntry[], words: number, onProgress?: (done: number) => void): Promise<BatchAnswer[]>;
};

/**
 * With one word each, the answer stays below the longest code of a contract, 24,576 bytes, and the call below the
 * longest creation code.
 */
const WORDS_MAX = 500;
/** A node that refuses this few takes no programs. */
const ENTRIES_MIN = 8;
/** Requests that run at a time. */
const CONCURRENT_MAX = 8;

/**
 * Reads through one node. A program that fails is tried with half of its entries, because some contracts use all the
 * gas that they get; where even small ones fail, every entry is asked alone.
 */
export function openContractReader(request: RpcRequester): ContractReader {
  let entriesMax = WORDS_MAX;
  let takesPrograms = true;

  async function askProgram(entries: readonly BatchEntry[], words: number): Promise<BatchAnswer[]> {
    if (entries.length === 0) return [];
    if (!takesPrograms) return askAlone(request, entries);
    try {
      const response = await request("eth_call", [{ data: encodeBatch(entries, words) }, "latest"]);
      const answers = decodeBatch(response, entries.length, words);
      if (answers !== undefined) return answers;
    } catch (error) {
      // A node that refuses for now, even after all pauses, refuses smaller programs too.
      if (classifyRefusal(error, "eth_call") === "refused") throw error;
    }
    if (entries.length <= ENTRIES_MIN) {
      if (!(await runsPrograms(request))) takesPrograms = false;
      return askAlone(request, entries);
    }
    const half = Math.ceil(entries.length / 2);
    entriesMax = Math.min(entriesMax, half * words);
    return [...(await askProgram(entries.slice(0, half), words)), ...(await askProgram(entries.slice(half), words))];
  }

  return {
    async ask(entries, words, onProgress) {
      const answers: BatchAnswer[] = [];
      while (answers.length < entries.length) {
        const size = Math.max(1, takesPrograms ? Math.floor(entriesMax / words) : 1);
        const parts = Array.from({ length: CONCURRENT_MAX }, (_, index) => {
          const start = answers.length + index * size;
          return entries.slice(start, start + size);
        });
        for (const part of await Promise.all(parts.map((each) => askProgram(each, words)))) answers.push(...part);
        onProgress?.(answers.length);
      }
      return answers;
    },
  };
}

/** Whether the node runs the program at all: the one without entries answers its mark. */
async function runsPrograms(request: RpcRequester): Promise<boolean> {
  const response = await request("eth_call", [{ data: encodeBatch([], 1) }, "latest"]).catch(() => undefined);
  return decodeBatch(response, 0, 1) !== undefined;
}

const NATIVE = /^0x0{40}$/;
const CONTRACT_REFUSAL = /revert|invalid|execution|opcode|out ?of ?gas|gas required exceeds|halt/i;

/** Whether a contract refused the call, as nodes say in many words. Other errors mean that the node does not answer. */
export function isContractRefusal(error: unknown): boolean {
  return CONTRACT_REFUSAL.test(error instanceof Error ? error.message : JSON.stringify(error));
}

async function askAlone(request: RpcRequester, entries: readonly BatchEntry[]): Promise<BatchAnswer[]> {
  const answers: BatchAnswer[] = [];
  for (const { target, data } of entries) {
    const pending = NATIVE.test(target)
      ? request("eth_getBalance", [`0x${data.slice(-40)}`, "latest"])
      : request("eth_call", [{ to: target, data }, "latest"]);
    const answer = await pending.catch((error: unknown) => {
      if (isContractRefusal(error)) return "0x";
      throw error;
    });
    answers.push(toWords(answer, NATIVE.test(target)));
  }
  return answers;
}

function toWords(answer: unknown, isQuantity: boolean): BatchAnswer {
  if (typeof answer !== "string" || !/^0x[0-9a-f]*$/i.test(answer)) return undefined;
  return isQuantity ? `0x${answer.slice(2).padStart(64, "0")}` : `0x${answer.slice(2)}`;
}
