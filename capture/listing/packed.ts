import { promisify } from 'node:util';
import { deflate, inflate } from 'node:zlib';

/** A value that JSON can express, packed. */
export interface Packed<T> {
  readonly bytes: Buffer;
  /** Only for the type. */
  readonly value?: T;
}

const deflated = promisify(deflate);
const inflated = promisify(inflate);

export const pack = async <T>(value: T): Promise<Packed<T>> => ({ bytes: await deflated(JSON.stringify(value)) });

export async function unpack<T>({ bytes }: Packed<T>): Promise<T> {
  const value: T = JSON.parse(String(await inflated(bytes)));
  return value;
}
