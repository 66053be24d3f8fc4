import { Buffer } from "node:buffer";
import assert from "node:assert/strict";
import type { Scene } from "./scene.ts";
import { keyBytes, u64 } from "./tokens.ts";
import { createKeypair } from "./world.ts";

// The thief's program as a messenger: what Circle's could become by an upgrade.

/** What it does, in the order of thief.c. */
const MODES = [
  "transfer",
  "callBack",
  "idle",
  "owner",
  "delegate",
  "closer",
  "less",
  "lamports",
  "otherAccount",
  "open",
  "openEvent",
  "reopen",
  "spend",
  "transferOther",
  "closeOther",
  "write",
  "assign",
  "honest",
  "localTake",
  "localOpen",
  "memo",
  "memoRoom",
] as const;
export type Mode = (typeof MODES)[number];

const MINT_OFFSET = 40;
/** That of a token account, which it could become. */
const SIZE = 165;

export class BadMessenger {
  readonly #scene: Scene;
  readonly #locals = new Map<string, string>();

  constructor(scene: Scene) {
    this.#scene = scene;
  }

  /**
   * Its account in place of a local token: the mint, a high limit, the mode, and how many known accounts stand behind
   * further ones.
   */
  localOf(mode: Mode, behind = 0, mint = this.#scene.mint): string {
    const key = `${mode} ${behind} ${mint}`;
    const known = this.#locals.get(key);
    if (known !== undefined) return known;
    assert.ok(MODES.includes(mode));
    const address = createKeypair().address;
    const order = Buffer.of(MODES.indexOf(mode), behind);
    const data = Buffer.concat([Buffer.alloc(MINT_OFFSET), keyBytes(mint), u64(10n ** 18n), order]);
    this.#scene.world.put(address, {
      owner: this.#scene.robber,
      data: Buffer.concat([data, Buffer.alloc(SIZE - data.length)]),
    });
    this.#locals.set(key, address);
    return address;
  }
}
