import type { RpcRequester } from "@tributary/recover/rpc/rpcRequester";
import { readCluster } from "@tributary/recover/solana/inspectSolana";
import { sendSolanaTransaction, type SolanaSigner } from "@tributary/recover/solana/sendSolanaTransaction";
import type { SolanaInstruction } from "@tributary/inbox/solana/instructions";
import {
  findSolanaProgram,
  placeholderProgram,
  solanaProgramBytes,
  solanaProgramHash,
} from "@tributary/inbox/solana/program";
import { solanaProgramCode } from "@tributary/inbox/solana/programCode";
import { JsonRpcClient } from "../../chain/rpc/jsonRpcClient.ts";
import { readInboxProgram, type InboxProgramState, type ProgramAccount } from "../../chain/solana/inboxProgram.ts";
import type { SolanaProgramConfig } from "../../config/config.ts";
import { systemTimer } from "../../kernel/clock.ts";
import { withChainError } from "../../operator/client/withChainError.ts";
import { CommandError, UsageError } from "../../operator/errors.ts";
import { toJson } from "../../operator/process/terminal.ts";
import type { CommandInput } from "../command.ts";
import { createSigner, readKeyFile } from "./keypair.ts";
import {
  bufferBytes,
  buildCreateBuffer,
  buildDeploy,
  buildFinalize,
  buildWrite,
  CHUNK_BYTES,
  programBytes,
} from "./loaderInstructions.ts";
import { readRpcUrl } from "./rpcUrl.ts";

const RPC_MS_MAX = 60_000;
const CONNECTIONS_MAX = 2;

/** What `hub status` says about the inbox program. */
export const PROGRAM_TEXTS: Readonly<Record<InboxProgramState["kind"], string>> = {
  present: "deployed, with the code of this release, and nobody can change it",
  upgradeable: "deployed with the code of this release, but A KEY CAN CHANGE IT: do not issue inboxes",
  absent: "missing: deploy it with `tributary hub deploy`",
  foreign: "OTHER CODE at its address: do not issue inboxes",
};

/** Shows the program of the cluster behind --rpc, without a configuration. */
export async function showProgram({ values, terminal, asJson }: CommandInput): Promise<number> {
  return withRpc(readRpcUrl(values["rpc"]), async (request, host) => {
    const cluster = await withChainError(readCluster(request), `${host} does not answer`);
    const program = values["program"] ?? findSolanaProgram(cluster);
    if (program === undefined)
      throw new UsageError(`The cluster ${cluster} has no published inbox program: name yours with --program.`);
    const state = await readState(request, program);
    if (asJson) terminal.out(toJson({ cluster, program, ...state, expectedCodeHash: solanaProgramHash }));
    else terminal.out(`${program}: ${PROGRAM_TEXTS[state.kind]}`);
    return state.kind === "present" ? 0 : 1;
  });
}

/** Compares the program of a configured cluster with this release. */
export async function readConfiguredProgram({
  rpcUrl,
  address,
}: SolanaProgramConfig): Promise<InboxProgramState["kind"] | "unreachable"> {
  try {
    return await withRpc(rpcUrl, async (request) => (await readState(request, address)).kind);
  } catch {
    return "unreachable";
  }
}

export type ProgramDeployment = { cluster: string; program: string; outcome: "present" | "deployed" };

/** Deploys the program with the keys of --key-file and --program-key. `expected` is the address that it must have. */
export async function deployProgram(
  { values }: Pick<CommandInput, "values">,
  { rpcUrl, expected }: { rpcUrl: string; expected?: string },
): Promise<ProgramDeployment> {
  const [payer, key] = [readKey(values["key-file"], "key-file"), readKey(values["program-key"], "program-key")];
  return withRpc(rpcUrl, async (request, host) => {
    const cluster = await withChainError(readCluster(request), `${host} does not answer`);
    const published = findSolanaProgram(cluster);
    const address = expected ?? (published === placeholderProgram ? undefined : published);
    if (address !== undefined && address !== key.address)
      throw new CommandError(`--program-key is the key of ${key.address}, and this cluster's program is ${address}.`);
    return { cluster, program: key.address, outcome: await ensureProgram(request, payer, key) };
  });
}

/** Continues a run that was interrupted before the authority was given up. Never makes other code final. */
async function ensureProgram(
  request: RpcRequester,
  payer: SolanaSigner,
  key: SolanaSigner,
): Promise<"present" | "deployed"> {
  const program = key.address;
  const before = await readState(request, program);
  if (before.kind === "present") return "present";
  if (before.kind === "foreign") throw new CommandError(`${program} has other code than this release.`);
  if (before.kind === "absent") await deployCode(request, payer, key);
  const state = await readState(request, program);
  if (state.kind !== "upgradeable" || state.authority !== payer.address)
    throw new CommandError(
      `${program} was not made final, because it is not what was deployed: ${PROGRAM_TEXTS[state.kind]}.`,
    );
  await send(request, [payer], [buildFinalize({ payer: payer.address, program })]);
  const after = await readState(request, program);
  if (after.kind !== "present") throw new CommandError(`${program} is not final: ${PROGRAM_TEXTS[after.kind]}.`);
  return "deployed";
}

async function deployCode(request: RpcRequester, payer: SolanaSigner, key: SolanaSigner): Promise<void> {
  const code = Buffer.from(solanaProgramCode, "base64");
  const bufferKey = createSigner();
  const deployment = { payer: payer.address, program: key.address, buffer: bufferKey.address };
  const bytes = bufferBytes(solanaProgramBytes);
  const lamports = await readRent(request, bytes);
  await send(request, [payer, bufferKey], buildCreateBuffer(deployment, { bytes, lamports }));
  for (let offset = 0; offset < code.length; offset += CHUNK_BYTES)
    await send(request, [payer], [buildWrite(deployment, offset, code.subarray(offset, offset + CHUNK_BYTES))]);
  const programLamports = await readRent(request, programBytes);
  await send(request, [payer, key], buildDeploy(deployment, code.length, programLamports));
}

async function send(
  request: RpcRequester,
  signers: readonly SolanaSigner[],
  instructions: readonly SolanaInstruction[],
): Promise<void> {
  const sender = { request, signers, sleep: (ms: number) => systemTimer.sleep(ms) };
  await withChainError(sendSolanaTransaction(sender, instructions), "The cluster rejects the transaction");
}

async function readRent(request: RpcRequester, bytes: number): Promise<bigint> {
  const lamports = await withChainError(request("getMinimumBalanceForRentExemption", [bytes]), "The rent is unknown");
  return BigInt(lamports as number);
}

/** Compares code and authority of a program on a cluster with this release. Throws CommandError. */
export async function readState(request: RpcRequester, program: string): Promise<InboxProgramState> {
  const readAccount = async (address: string): Promise<ProgramAccount | undefined> => {
    const answer = (await request("getAccountInfo", [address, { encoding: "base64", commitment: "confirmed" }])) as {
      value: { owner: string; data: [base64: string, encoding: string] } | null;
    };
    return answer.value === null
      ? undefined
      : { owner: answer.value.owner, data: Buffer.from(answer.value.data[0], "base64") };
  };
  return withChainError(readInboxProgram(program, readAccount), "The program cannot be read");
}

/** Runs `run` with a client of one URL, and closes it. */
export async function withRpc<T>(url: string, run: (request: RpcRequester, host: string) => Promise<T>): Promise<T> {
  const rpc = new JsonRpcClient({ url, timeoutMs: RPC_MS_MAX, connectionsMax: CONNECTIONS_MAX });
  try {
    return await run((method, parameters) => rpc.request(method, parameters), rpc.host);
  } finally {
    await rpc.close();
  }
}

function readKey(file: string | undefined, option: string): SolanaSigner {
  if (file === undefined) throw new UsageError(`Missing private key: name its file in --${option}.`);
  return readKeyFile(file);
}
