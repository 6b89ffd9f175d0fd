import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

/**
 * Loads a Lua script that lies next to the calling module, as a function that runs it with keys and arguments: Redis
 * executes it as one step. It is sent whole each time, since a restarted Redis knows none;
 * Redis compiles it once.
 *
 * @param file such as `./take.lua`
 * @param base `import.meta.url` of the caller
 */
export function loadScript(file: string, base: string) {
  const source = readFileSync(new URL(file, base), 'utf8');
  return (redis: Redis, keys: readonly string[], args: readonly (string | number)[]): Promise<unknown> =>
    redis.eval(source, keys.length, ...keys, ...args);
}

/** A uint64 as 20 digits, so that text compares as the numbers do: Lua numbers round above 2^53. */
export const sortableUint64 = (value: bigint): string => value.toString().padStart(20, '0');
