import { readChainPools } from '../indexing/chain-pools.ts';
import { connectExact, readIndexedPools } from '../indexing/indexed-pools.ts';
import type { World } from './world.ts';

/** The other way to derive the state: from the storage of the contracts, slot by slot. */
export async function compareWithStorage({
  chains,
  databaseUrl,
}: World): Promise<{ pools: number; violations: string[] }> {
  const client = await connectExact(databaseUrl);
  const violations: string[] = [];
  let pools = 0;
  try {
    for (const { plan, client: node, scenario } of chains) {
      const indexed = await readIndexedPools(client, plan.chainId);
      for (const [address, pool] of await readChainPools(node, scenario.deployment.poolFactory)) {
        pools += 1;
        const [found, expected] = [textOf(indexed.get(address)), textOf(pool)];
        if (found !== expected)
          violations.push(`pool ${address} of ${plan.name} is ${found}, its storage says ${expected}`);
      }
    }
  } finally {
    await client.end();
  }
  return { pools, violations };
}

/**
 * Differences that capture took for those of the index and the chain, at any time: whatever happened, there are none.
 * With the number of pools and factories that it compared: none would show nothing.
 */
export async function differencesOfIndex({
  databaseUrl,
}: World): Promise<{ audited: number; differed: number; violations: string[] }> {
  const client = await connectExact(databaseUrl);
  try {
    const { rows } = await client.query<{ pool: string; facts: readonly string[]; differed: boolean }>(
      `SELECT address AS pool, differences AS facts, last_difference_at IS NOT NULL AS differed
       FROM operator.index_audit WHERE audited_block IS NOT NULL`,
    );
    const violations = rows
      .filter(({ differed }) => differed)
      .map(({ pool, facts }) => `the index of ${pool} was taken for another one than the chain's (${facts.join()})`);
    const differed = violations.length;
    if (rows.length === 0) violations.push('no pool of the index was compared with the chain');
    return { audited: rows.length, differed, violations };
  } finally {
    await client.end();
  }
}

/** One text for equal values, whatever the order of their fields. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) => {
    if (typeof each === 'bigint') return `${each}n`;
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
