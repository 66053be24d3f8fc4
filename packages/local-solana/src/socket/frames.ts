import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

// The part of RFC 6455 that a local server needs: text messages, fragments, pings, and the closing handshake.

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const MESSAGE_BYTES_MAX = 1024 * 1024;
const OPCODES = { continuation: 0, text: 1, close: 8, ping: 9, pong: 10 } as const;
const TOO_LARGE = 1009;
const PROTOCOL_ERROR = 1002;

export type WebSocketConnection = { send(text: string): void; close(): void };

type Frame = { isFinal: boolean; opcode: number; payload: Buffer };

/** Accepts the upgrade. `receive` gets each text message. Undefined when the request is no websocket handshake. */
export function acceptWebSocket(
  request: IncomingMessage,
  socket: Duplex,
  receive: (text: string) => void,
): WebSocketConnection | undefined {
  const key = request.headers["sec-websocket-key"];
  if (key === undefined || request.headers.upgrade?.toLowerCase() !== "websocket") {
    socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    return undefined;
  }
  const accept = createHash("sha1")
    .update(key + GUID)
    .digest("base64");
  const headers = ["upgrade: websocket", "connection: Upgrade", `sec-websocket-accept: ${accept}`];
  socket.write(["HTTP/1.1 101 Switching Protocols", ...headers, "", ""].join("\r\n"));
  socket.on("error", () => socket.destroy());
  const write = (opcode: number, payload: Buffer) => {
    if (socket.writable) socket.write(encodeFrame(opcode, payload));
  };
  const close = (code?: number) => {
    const payload = Buffer.alloc(code === undefined ? 0 : 2);
    if (code !== undefined) payload.writeUInt16BE(code);
    write(OPCODES.close, payload);
    socket.end();
  };
  readFrames(socket, { receive, pong: (payload) => write(OPCODES.pong, payload), close });
  return { send: (text) => write(OPCODES.text, Buffer.from(text)), close: () => close() };
}

type FrameHandlers = {
  readonly receive: (text: string) => void;
  readonly pong: (payload: Buffer) => void;
  readonly close: (code?: number) => void;
};

function readFrames(socket: Duplex, { receive, pong, close }: FrameHandlers): void {
  let buffered: Buffer = Buffer.alloc(0);
  let fragments: Buffer[] = [];
  const handle = ({ isFinal, opcode, payload }: Frame) => {
    if (opcode === OPCODES.close) return close();
    if (opcode === OPCODES.ping) return pong(payload);
    if (opcode !== OPCODES.text && opcode !== OPCODES.continuation) return;
    fragments.push(payload);
    if (fragments.reduce((total, { length }) => total + length, 0) > MESSAGE_BYTES_MAX) return close(TOO_LARGE);
    if (!isFinal) return;
    const message = Buffer.concat(fragments).toString();
    fragments = [];
    receive(message);
  };
  socket.on("data", (chunk: Buffer) => {
    buffered = Buffer.concat([buffered, chunk]);
    for (;;) {
      const read = readFrame(buffered);
      if (read === "incomplete") return;
      if (typeof read === "number") return close(read);
      buffered = buffered.subarray(read.length);
      handle(read.frame);
    }
  });
}

/** The first frame of the bytes; a number is the code to close with. */
function readFrame(bytes: Buffer): { frame: Frame; length: number } | "incomplete" | number {
  if (bytes.length < 2) return "incomplete";
  const [first, second] = [bytes.readUInt8(0), bytes.readUInt8(1)];
  // Clients mask every frame.
  if ((second & 0x80) === 0) return PROTOCOL_ERROR;
  const short = second & 0x7f;
  const header = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < header + 4) return "incomplete";
  const size = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
  if (size > MESSAGE_BYTES_MAX) return TOO_LARGE;
  const length = header + 4 + size;
  if (bytes.length < length) return "incomplete";
  const mask = bytes.subarray(header, header + 4);
  const payload = Buffer.from(bytes.subarray(header + 4, length));
  for (let index = 0; index < payload.length; index += 1) {
    payload.writeUInt8(payload.readUInt8(index) ^ mask.readUInt8(index % 4), index);
  }
  return { frame: { isFinal: (first & 0x80) !== 0, opcode: first & 0x0f, payload }, length };
}

function encodeFrame(opcode: number, payload: Buffer): Buffer {
  const first = 0x80 | opcode;
  if (payload.length < 126) return Buffer.concat([Buffer.of(first, payload.length), payload]);
  const isMedium = payload.length < 65_536;
  const header = Buffer.alloc(isMedium ? 4 : 10);
  header.writeUInt8(first, 0);
  header.writeUInt8(isMedium ? 126 : 127, 1);
  if (isMedium) header.writeUInt16BE(payload.length, 2);
  else header.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([header, payload]);
}
