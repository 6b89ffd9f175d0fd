import type { PublicClient } from 'viem';
import { expect } from 'vitest';

/** Holds the headers of an answer that was read at the head against the chain. */
export async function expectBlockTold(headers: Headers, client: Pick<PublicClient, 'getBlock'>): Promise<void> {
  const { number, hash, timestamp } = await client.getBlock();
  const age = Math.max(0, Date.now() - Number(timestamp) * 1_000);
  expect([headers.get('X-Block-Number'), headers.get('X-Block-Hash')]).toEqual([String(number), hash]);
  const told = Number(headers.get('X-Block-Age-Ms'));
  expect(told).toBeGreaterThanOrEqual(0);
  expect(told).toBeLessThanOrEqual(age);
  expect(told).toBeGreaterThan(age - 30_000);
}
