import { createHash } from "node:crypto";
import { deriveAddress } from "@tributary/inbox/solana/derive";
import { decodeKey, encodeKey } from "@tributary/inbox/solana/keys";
import { solanaProgramBytes, solanaProgramHash } from "@tributary/inbox/solana/program";

// What stands at an address in place of the inbox program. Only its exact code, which nobody can change any more, is
// the inbox program.

/** The loader whose programs have their code in a second account. */
export const UPGRADEABLE_LOADER = "BPFLoaderUpgradeab1e11111111111111111111111";

const STATE_PROGRAM = 2;
const STATE_PROGRAM_DATA = 3;
const PROGRAM_BYTES = 36;
const AUTHORITY_TAG = 12;
const AUTHORITY = 13;
/** Where the code begins in the second account. */
const CODE = 45;

export type ProgramAccount = { readonly owner: string; readonly data: Uint8Array };

/** Reads an account; undefined when it does not exist. */
export type ReadProgramAccount = (address: string) => Promise<ProgramAccount | undefined>;

export type InboxProgramState =
  /** The code of this release, and no key can change it. */
  | { readonly kind: "present" }
  /** The code of this release, but this key can still change it. */
  | { readonly kind: "upgradeable"; readonly authority: string }
  | { readonly kind: "absent" }
  /** Other code, or no program of the upgradeable loader. */
  | { readonly kind: "foreign"; readonly codeHash: string | null };

/** The account that holds the code of a program. */
export function programDataAddress(program: string): string {
  return deriveAddress([decodeKey("program", program)], UPGRADEABLE_LOADER).address;
}

/** Compares code and upgrade authority of a program with this release. */
export async function readInboxProgram(program: string, readAccount: ReadProgramAccount): Promise<InboxProgramState> {
  const account = await readAccount(program);
  if (account === undefined) return { kind: "absent" };
  const data = Buffer.from(account.data);
  const isProgram =
    account.owner === UPGRADEABLE_LOADER && data.length === PROGRAM_BYTES && data.readUInt32LE(0) === STATE_PROGRAM;
  if (!isProgram) return { kind: "foreign", codeHash: null };
  const codeAccount = await readAccount(programDataAddress(program));
  return codeAccount === undefined ? { kind: "foreign", codeHash: null } : compareCode(codeAccount);
}

function compareCode({ owner, data: bytes }: ProgramAccount): InboxProgramState {
  const data = Buffer.from(bytes);
  if (owner !== UPGRADEABLE_LOADER || data.length < CODE || data.readUInt32LE(0) !== STATE_PROGRAM_DATA)
    return { kind: "foreign", codeHash: null };
  const code = data.subarray(CODE, CODE + solanaProgramBytes);
  const codeHash = createHash("sha256").update(code).digest("hex");
  // The loader may keep room behind the code, which is empty.
  const isExact =
    codeHash === solanaProgramHash && data.subarray(CODE + solanaProgramBytes).every((byte) => byte === 0);
  if (!isExact) return { kind: "foreign", codeHash };
  if (data.readUInt8(AUTHORITY_TAG) === 0) return { kind: "present" };
  return { kind: "upgradeable", authority: encodeKey(new Uint8Array(data.subarray(AUTHORITY, AUTHORITY + 32))) };
}

/** What stands in place of the inbox program, for a sentence. */
export function describeInboxProgram(state: Exclude<InboxProgramState, { kind: "present" }>): string {
  switch (state.kind) {
    case "absent":
      return "is not deployed";
    case "foreign":
      return "has other code than this release";
    case "upgradeable":
      return `can be changed by ${state.authority}`;
  }
}
