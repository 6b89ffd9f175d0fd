import pg from 'pg';
import { type Address, erc20Abi, type PublicClient } from 'viem';
import { expect } from 'vitest';
import { ChainsFile } from '../../config/chains-schema.ts';
import { connectExact } from '../indexing/indexed-pools.ts';
import { readPackedLogs } from '../indexing/packed-logs.ts';
import { serveSites } from './serve-sites.ts';
import { type KeptChain, walkSite } from './walk-site.ts';

interface Walked {
  readonly databaseUrl: string;
  /** As in a chains file. */
  readonly file: unknown;
  readonly client: PublicClient;
  readonly chainId: number;
}

/** What a site has of a chain that reads this far behind the index. */
export async function walkBehind(
  { databaseUrl, file, client, chainId }: Walked,
  lagBlocks: number,
): Promise<KeptChain> {
  const database = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  const chains = ChainsFile.parse(file).chains.map((chain) => ({ ...chain, adapters: { lagBlocks } }));
  try {
    return await walkSite(serveSites(database, chains).askOf(chainId), (token) =>
      client.readContract({ address: token as Address, abi: erc20Abi, functionName: 'decimals' }),
    );
  } finally {
    await database.end();
  }
}

/**
 * Expects a site's events of packed pools to be those that the chain logged, read here without the project's decoders,
 * and its last reserves to be what the pools hold.
 *
 * @returns how many events there were
 */
export async function expectPackedWalked(walked: Walked, pools: readonly Address[]): Promise<number> {
  const { client, databaseUrl, chainId } = walked;
  const { pairs } = await walkBehind(walked, 0);
  const rows = await connectExact(databaseUrl);
  let shown = 0;
  for (const pool of pools) {
    const { activity, swaps } = await readPackedLogs(client, pool);
    const events = pairs.get(pool) ?? [];
    const [trades, changes] = [
      events.filter(({ type }) => type === 'swap'),
      events.filter(({ type }) => type !== 'swap'),
    ];
    expect(trades.map(({ block, index, amounts }) => [block, index, ...amounts])).toEqual(
      swaps
        .map(({ block_number, log_index, amount0_raw, amount1_raw }) => [
          block_number,
          log_index,
          amount0_raw,
          amount1_raw,
        ])
        .filter((swap) => !swap.includes(0n)),
    );
    const count = (type: string) => BigInt(changes.filter((change) => change.type === type).length);
    expect([count('join'), count('exit')]).toEqual([
      activity.liquidity_add_count ?? 0n,
      activity.liquidity_remove_count ?? 0n,
    ]);
    const { rows: tokens } = await rows.query(
      'SELECT token0, token1 FROM live.pool WHERE chain_id = $1 AND address = $2',
      [chainId, pool],
    );
    const held = (address: Address) =>
      client.readContract({ address, abi: erc20Abi, functionName: 'balanceOf', args: [pool] });
    const last = events.at(-1);
    if (last) expect(last.reserves).toEqual([await held(tokens[0].token0), await held(tokens[0].token1)]);
    shown += events.length;
  }
  await rows.end();
  return shown;
}
