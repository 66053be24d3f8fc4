/** MurmurHash3 of 32 bits with seed 0 over UTF-8 text. The runtime names its system calls by it. */
export function murmur3(text: string): number {
  const bytes = Buffer.from(text);
  const wholeEnd = bytes.length - (bytes.length % 4);
  let hash = 0;
  for (let at = 0; at < wholeEnd; at += 4) {
    hash ^= scramble(bytes.readInt32LE(at));
    hash = (Math.imul(rotateLeft(hash, 13), 5) + 0xe6546b64) | 0;
  }
  if (wholeEnd < bytes.length) hash ^= scramble(bytes.readUIntLE(wholeEnd, bytes.length - wholeEnd));
  return finish(hash ^ bytes.length);
}

function scramble(word: number): number {
  return Math.imul(rotateLeft(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}

function finish(word: number): number {
  const first = Math.imul(word ^ (word >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}
