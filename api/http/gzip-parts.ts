import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, type ZlibOptions } from 'node:zlib';

/** Compressed bytes that can be followed by those of another part: they end on a byte, and refer to nothing before them. */
export interface GzipPart {
  readonly deflated: Uint8Array;
  /** CRC-32 and number of bytes of what was compressed. */
  readonly crc: number;
  readonly length: number;
}

const deflate = promisify<string | Uint8Array, ZlibOptions, Buffer<ArrayBuffer>>(deflateRaw);

/** Compresses a part, in a thread of the pool. */
export async function deflatePart(content: string | Uint8Array, level: number): Promise<GzipPart> {
  const deflated = await deflate(content, { level, finishFlush: constants.Z_FULL_FLUSH });
  return { deflated, crc: crc32(content), length: Buffer.byteLength(content) };
}

/** The most that a stored block holds. */
export const MAX_STORED_BYTES = 0xff_ff;

/** A part of at most {@link MAX_STORED_BYTES} bytes as it is: for what is too short to gain by compression. */
export function storedPart(content: Uint8Array): GzipPart {
  const { length } = content;
  const deflated = Buffer.allocUnsafe(5 + length);
  deflated.writeUInt8(0, 0);
  deflated.writeUInt16LE(length, 1);
  deflated.writeUInt16LE(MAX_STORED_BYTES - length, 3);
  deflated.set(content, 5);
  return { deflated, crc: crc32(content), length };
}

/** Without name, time or operating system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
/** An empty block that is the last. */
const LAST_BLOCK = Uint8Array.of(3, 0);

/** One gzip member (RFC 1952) of all parts, in their order. */
export function gzipMember(parts: readonly GzipPart[]): Buffer<ArrayBuffer> {
  let [crc, length] = [0, 0];
  for (const part of parts) {
    crc = combinedCrc(crc, part.crc, part.length);
    length += part.length;
  }
  const trailer = Buffer.allocUnsafe(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(length >>> 0, 4);
  return Buffer.concat([HEADER, ...parts.map(({ deflated }) => deflated), LAST_BLOCK, trailer]);
}

/** The polynomial of CRC-32, and the one that is 1, both with the lowest power in the highest bit. */
const POLYNOMIAL = 0xedb8_8320;
const ONE = 0x8000_0000;

/** x^(8 * 2^n) by n: bytes of all lengths below 2^32 are products of these. */
const POWERS: number[] = [ONE >>> 8];
while (POWERS.length < 32) POWERS.push(product(POWERS.at(-1) ?? 0, POWERS.at(-1) ?? 0));

/** CRC-32 of bytes followed by others, from the CRC-32 of each and the number of the others. */
function combinedCrc(crc: number, next: number, nextLength: number): number {
  let shifted = crc;
  for (let rest = nextLength, n = 0; rest > 0; rest >>>= 1, n++) {
    if (rest & 1) shifted = product(shifted, POWERS[n] ?? 0);
  }
  return (shifted ^ next) >>> 0;
}

/** The product of two polynomials modulo that of CRC-32. */
function product(one: number, other: number): number {
  let sum = 0;
  let power = other;
  for (let bit = ONE; bit > 0; bit >>>= 1) {
    if (one & bit) sum ^= power;
    power = power & 1 ? (power >>> 1) ^ POLYNOMIAL : power >>> 1;
  }
  return sum >>> 0;
}
