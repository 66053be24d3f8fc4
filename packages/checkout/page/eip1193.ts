/** A wallet in the browser, with the EIP-1193 interface. */
export type Eip1193Provider = {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
};
