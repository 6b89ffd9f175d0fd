import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

/**
 * Loads a Lua script next to the calling module. Returns a function that runs it with keys and arguments, in one atomic
 * step. Each call sends the whole script, since a restarted Redis has no scripts. Redis compiles it only once.
 *
 * @param file such as `./acquire.lua`
 * @param base `import.meta.url` of the caller
 */
export function loadScript(file: string, base: string) {
  const source = readFileSync(new URL(file, base), 'utf8');
  return (redis: Pick<Redis, 'eval'>, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> =>
    redis.eval(source, keys.length, ...keys, ...args);
}

/** A uint64 as 20 digits, so that texts compare like the numbers. Lua numbers are rounded above 2^53. */
export const sortableUint64 = (value: bigint): string => value.toString().padStart(20, '0');
