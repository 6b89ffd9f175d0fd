import type { PublicClient } from 'viem';
import { expect } from 'vitest';

/** Compares the headers of a response that was read at the head with the chain. */
export async function expectBlockHeaders(headers: Headers, client: Pick<PublicClient, 'getBlock'>): Promise<void> {
  const { number, hash, timestamp } = await client.getBlock();
  const age = Math.max(0, Date.now() - Number(timestamp) * 1_000);
  expect([headers.get('X-Block-Number'), headers.get('X-Block-Hash')]).toEqual([String(number), hash]);
  const reported = Number(headers.get('X-Block-Age-Ms'));
  expect(reported).toBeGreaterThanOrEqual(0);
  expect(reported).toBeLessThanOrEqual(age);
  expect(reported).toBeGreaterThan(age - 30_000);
}
