// Calldata is a selector and words of 32 bytes. Payers and tokens need no more of the ABI.

/** `0x` and 64 hexadecimal digits. */
export function encodeWord(value: bigint | string): string {
  const digits = typeof value === "bigint" ? value.toString(16) : value.slice(2);
  return digits.padStart(64, "0");
}

export function encodeCall(selector: string, ...words: readonly (bigint | string)[]): string {
  return selector + words.map(encodeWord).join("");
}

export function selectorOf(data: string): string {
  return data.slice(0, 10);
}

/** Reads the word at an index after the selector; zero where the data ends earlier. */
export function decodeUint(data: string, index: number): bigint {
  const digits = data.slice(10 + index * 64, 10 + (index + 1) * 64);
  return digits === "" ? 0n : BigInt(`0x${digits}`);
}

export function decodeAddress(data: string, index: number): string {
  const digits = data.slice(10 + index * 64, 10 + (index + 1) * 64).padStart(64, "0");
  return `0x${digits.slice(24)}`;
}
