import { Buffer } from "node:buffer";
import { cctpMessenger } from "@tributary/inbox/solana/cctp";
import { deriveAddress } from "@tributary/inbox/solana/derive";
import { decodeKey } from "@tributary/inbox/solana/keys";
import { installCctp } from "./cctpDouble.ts";
import type { CctpDouble } from "./cctpDouble.ts";
import type { LocalSolana } from "./startLocalSolana.ts";

const LOADER = "BPFLoaderUpgradeab1e11111111111111111111111";
const PROGRAM_DATA_HEADER = 45;

/** Puts the doubles of Circle's bridge on a local chain. What a stored chain has of them stays. */
export function installBridge({ control }: Pick<LocalSolana, "control">, bridge: CctpDouble): void {
  if (control.account(cctpMessenger) !== undefined) return;
  // As the loader stores a program.
  const addProgram = (program: string, elf: Uint8Array): void => {
    const { address: code } = deriveAddress([decodeKey("program", program)], LOADER);
    const header = Buffer.alloc(PROGRAM_DATA_HEADER);
    header.writeUInt32LE(3);
    control.setAccount(code, { owner: LOADER, data: Buffer.concat([header, elf]) });
    const data = Buffer.concat([Buffer.from([2, 0, 0, 0]), decodeKey("code", code)]);
    control.setAccount(program, { owner: LOADER, data, isExecutable: true });
  };
  installCctp({ addProgram, put: (address, account) => control.setAccount(address, account) }, bridge);
}
