import { createSocket, type Socket } from "node:dgram";
import type { AddressInfo } from "node:net";

/** The IPv4 addresses of a name; undefined for a name server that never answers for it. */
export type NameAnswer = (name: string) => readonly string[] | undefined;

const TYPE_A = 1;
const HEADER_BYTES = 12;

/** A real name server on this machine. */
export class NameServer {
  readonly asked: string[] = [];
  readonly #answer: NameAnswer;
  readonly #socket: Socket = createSocket("udp4");

  constructor(answer: NameAnswer) {
    this.#answer = answer;
    this.#socket.on("message", (question, from) => {
      const reply = this.#reply(question);
      if (reply !== undefined) this.#socket.send(reply, from.port, from.address);
    });
  }

  async listen(): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#socket.bind(0, "127.0.0.1", resolve);
    await promise;
    return `127.0.0.1:${(this.#socket.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#socket.close();
  }

  #reply(question: Buffer): Buffer | undefined {
    const labels: string[] = [];
    let offset = HEADER_BYTES;
    for (let length = question[offset] ?? 0; length > 0; length = question[offset] ?? 0) {
      labels.push(question.toString("latin1", offset + 1, offset + 1 + length));
      offset += 1 + length;
    }
    const type = question.readUInt16BE(offset + 1);
    const name = labels.join(".").toLowerCase();
    if (type === TYPE_A) this.asked.push(name);
    const addresses = this.#answer(name);
    if (addresses === undefined) return undefined;
    const answers = type === TYPE_A ? addresses.map(recordOf) : [];
    const header = Buffer.from(question.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(answers.length, 6);
    header.writeUInt32BE(0, 8);
    return Buffer.concat([header, question.subarray(HEADER_BYTES, offset + 5), ...answers]);
  }
}

/** A record that points at the question's name. */
function recordOf(address: string): Buffer {
  const fields = Buffer.from("c00c00010001000000000004", "hex");
  return Buffer.concat([fields, Buffer.from(address.split(".").map(Number))]);
}
