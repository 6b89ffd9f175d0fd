import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

/** Runs a script with its keys and arguments; Redis executes it as one step. */
export type RedisScript = (
  redis: Redis,
  keys: readonly string[],
  args: readonly (string | number)[],
) => Promise<unknown>;

/**
 * Loads a Lua script that lies beside the calling module.
 *
 * @param file such as `./take.lua`
 * @param base `import.meta.url` of the caller
 */
export function loadScript(file: string, base: string): RedisScript {
  const source = readFileSync(new URL(file, base), 'utf8');
  const digest = createHash('sha1').update(source).digest('hex');
  return async (redis, keys, args) => {
    try {
      return await redis.evalsha(digest, keys.length, ...keys, ...args);
    } catch (error) {
      // A restarted Redis has forgotten the script: send it whole, once.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return redis.eval(source, keys.length, ...keys, ...args);
    }
  };
}

/** A uint64 as 20 digits, so that text compares as the numbers do: Lua numbers round above 2^53. */
export const sortableUint64 = (value: bigint): string => value.toString().padStart(20, '0');
