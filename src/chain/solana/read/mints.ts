import { token2022Program, tokenProgram } from "@tributary/inbox/solana/keys";
import { ProviderFailed } from "../../reader.ts";
import type { SolanaRpc } from "../rpc/solanaRpc.ts";

/** The programs whose accounts and instructions this reader knows. */
export const TOKEN_PROGRAMS: readonly string[] = [tokenProgram, token2022Program];

export type Mint = { tokenProgram: string; decimals: number };

const MINT_BYTES = 82;
const DECIMALS = 44;
const IS_INITIALIZED = 45;
/** Accounts of Token-2022 that are longer than a mint say what they are. */
const ACCOUNT_TYPE = 165;
const TYPE_MINT = 1;
const MINTS_MAX = 1_000;

/** The mints of one cluster. Its token program and its decimals never change, so each is read once. */
export class Mints {
  readonly #rpc: SolanaRpc;
  readonly #known = new Map<string, Mint>();

  constructor(rpc: SolanaRpc) {
    this.#rpc = rpc;
  }

  /** Undefined when there is no mint at the address. */
  async find(address: string): Promise<Mint | undefined> {
    const known = this.#known.get(address);
    if (known) return known;
    const { accounts } = await this.#rpc.accounts([address], ACCOUNT_TYPE + 1);
    const [account] = accounts;
    if (account === undefined || !TOKEN_PROGRAMS.includes(account.owner) || !isMint(account.data)) return undefined;
    const mint = { tokenProgram: account.owner, decimals: account.data.readUInt8(DECIMALS) };
    if (this.#known.size < MINTS_MAX) this.#known.set(address, mint);
    return mint;
  }

  /** Throws when the provider does not know the mint: without its program no token account can be derived. */
  async get(address: string): Promise<Mint> {
    const mint = await this.find(address);
    if (!mint) throw new ProviderFailed("bad_answer", `${this.#rpc.name} knows no mint ${address}`);
    return mint;
  }
}

function isMint(data: Buffer): boolean {
  if (data.length !== MINT_BYTES && !(data.length > ACCOUNT_TYPE && data.readUInt8(ACCOUNT_TYPE) === TYPE_MINT))
    return false;
  return data.readUInt8(IS_INITIALIZED) === 1;
}
