import { promisify } from 'node:util';
import { constants, crc32, deflateRaw, type ZlibOptions } from 'node:zlib';

/** Compressed bytes that parts can precede and follow: they end on a byte, and refer to nothing before them. */
export interface GzipPart {
  readonly deflated: Uint8Array;
  /** CRC-32 and number of bytes of the uncompressed content. */
  readonly crc: number;
  readonly length: number;
}

const deflate = promisify<string | Uint8Array, ZlibOptions, Buffer<ArrayBuffer>>(deflateRaw);

/** Compresses a part in a thread of Node's thread pool. */
export async function deflatePart(content: string | Uint8Array, level: number): Promise<GzipPart> {
  const deflated = await deflate(content, { level, finishFlush: constants.Z_FULL_FLUSH });
  return { deflated, crc: crc32(content), length: Buffer.byteLength(content) };
}

/** The most that a stored block holds. */
export const MAX_STORED_BYTES = 0xff_ff;

/** Stores at most {@link MAX_STORED_BYTES} bytes uncompressed: for a part that is too short to gain by compression. */
export function storedPart(content: Uint8Array): GzipPart {
  const { length } = content;
  const deflated = Buffer.allocUnsafe(5 + length);
  deflated.writeUInt8(0, 0);
  deflated.writeUInt16LE(length, 1);
  deflated.writeUInt16LE(MAX_STORED_BYTES - length, 3);
  deflated.set(content, 5);
  return { deflated, crc: crc32(content), length };
}

/** The header of a gzip member without name, time or operating system. */
const HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);
/** An empty block that is marked as the last. */
const LAST_BLOCK = Uint8Array.of(3, 0);

/** Joins parts, in their order, to one gzip member (RFC 1952). */
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

/** The polynomial of CRC-32, and the polynomial 1. Both have their lowest power in the highest bit. */
const POLYNOMIAL = 0xedb8_8320;
const ONE = 0x8000_0000;

/** x^(8 * 2^n) by n. To append any number of bytes below 2^32 is to multiply by some of these. */
const POWERS: number[] = [ONE >>> 8];
while (POWERS.length < 32) POWERS.push(product(POWERS.at(-1) ?? 0, POWERS.at(-1) ?? 0));

/** CRC-32 of two joined parts, from the CRC-32 of each and the length of the second. */
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
