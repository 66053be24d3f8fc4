// Packs a compiled object file into the only form that the loader of SBPF v3 accepts here: an ELF header, one program
// header, and the code.

const ELF_HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
export const HEADERS_BYTES = ELF_HEADER_BYTES + PROGRAM_HEADER_BYTES;
const SECTION_HEADER_BYTES = 64;
const SYMBOL_BYTES = 24;
const INSTRUCTION_BYTES = 8;
/** Where SBPF v3 loads code. */
const CODE_ADDRESS = 0x1_0000_0000n;
const SBPF_VERSION = 3;
const SHARED_OBJECT = 3;
const MACHINE_BPF = 247;
const LOADABLE = 1;
const EXECUTABLE = 1;
const ENTRY = "entrypoint";

type Section = { readonly name: string; readonly index: number; readonly offset: number; readonly size: number };

/**
 * Packs the object. Throws an Error for constants, data or relocations, which the code must not need; for an entry
 * point that is not the first function; and for 32-bit operations, whose results differ between eBPF and SBPF v3.
 */
export function pack(object: Buffer): Buffer {
  const sections = readSections(object);
  const surplus = sections.find(({ name, size }) => size > 0 && /^\.(?:rodata|data|bss|rel)/.test(name));
  if (surplus) throw new Error(`section ${surplus.name} has ${surplus.size} bytes: only code can be packed`);
  const text = requireSection(sections, ".text");
  if (findSymbol(object, sections, text) !== 0n) throw new Error(`${ENTRY} must be the first function`);
  const code = object.subarray(text.offset, text.offset + text.size);
  refuseNarrowOperations(code);
  return Buffer.concat([buildHeaders(code.length), code]);
}

function readSections(object: Buffer): Section[] {
  const start = Number(object.readBigUInt64LE(40));
  const headers = Array.from({ length: object.readUInt16LE(60) }, (_, index) => {
    const at = start + SECTION_HEADER_BYTES * index;
    return {
      index,
      nameAt: object.readUInt32LE(at),
      offset: Number(object.readBigUInt64LE(at + 24)),
      size: Number(object.readBigUInt64LE(at + 32)),
    };
  });
  const names = headers[object.readUInt16LE(62)]?.offset ?? 0;
  return headers.map(({ nameAt, ...section }) => ({ ...section, name: readText(object, names + nameAt) }));
}

function requireSection(sections: readonly Section[], name: string): Section {
  const section = sections.find((each) => each.name === name);
  if (section === undefined) throw new Error(`the object has no section ${name}`);
  return section;
}

/** The offset of the entry point in the code; undefined when it is not there. */
function findSymbol(object: Buffer, sections: readonly Section[], text: Section): bigint | undefined {
  const { offset, size } = requireSection(sections, ".symtab");
  const names = requireSection(sections, ".strtab").offset;
  for (let at = offset; at < offset + size; at += SYMBOL_BYTES) {
    const isEntry = readText(object, names + object.readUInt32LE(at)) === ENTRY;
    if (isEntry && object.readUInt16LE(at + 6) === text.index) return object.readBigUInt64LE(at + 8);
  }
  return undefined;
}

function readText(object: Buffer, from: number): string {
  return object.toString("latin1", from, object.indexOf(0, from));
}

/**
 * SBPF v3 sign-extends the results of 32-bit addition, subtraction and multiplication, where eBPF, for which the code
 * was made, zero-extends.
 */
function refuseNarrowOperations(code: Buffer): void {
  const [narrowArithmetic, narrowJump, byteSwap, loadWideConstant] = [4, 6, 0xdc, 0x18];
  for (let at = 0; at < code.length; at += INSTRUCTION_BYTES) {
    const opcode = code.readUInt8(at);
    const kind = opcode & 7;
    if ((kind === narrowArithmetic && opcode !== byteSwap) || kind === narrowJump)
      throw new Error(`instruction ${at / INSTRUCTION_BYTES} (opcode 0x${opcode.toString(16)}) is a 32-bit operation`);
    if (opcode === loadWideConstant) at += INSTRUCTION_BYTES;
  }
}

function buildHeaders(codeBytes: number): Buffer {
  const header = Buffer.alloc(HEADERS_BYTES);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  header.writeUInt16LE(SHARED_OBJECT, 16);
  header.writeUInt16LE(MACHINE_BPF, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(CODE_ADDRESS, 24);
  header.writeBigUInt64LE(BigInt(ELF_HEADER_BYTES), 32);
  header.writeUInt32LE(SBPF_VERSION, 48);
  for (const [index, value] of [ELF_HEADER_BYTES, PROGRAM_HEADER_BYTES, 1, SECTION_HEADER_BYTES].entries())
    header.writeUInt16LE(value, 52 + 2 * index);
  header.writeUInt32LE(LOADABLE, 64);
  header.writeUInt32LE(EXECUTABLE, 68);
  const [size, alignment] = [BigInt(codeBytes), BigInt(INSTRUCTION_BYTES)];
  for (const [index, value] of [BigInt(HEADERS_BYTES), CODE_ADDRESS, CODE_ADDRESS, size, size, alignment].entries())
    header.writeBigUInt64LE(value, 72 + 8 * index);
  return header;
}
