import type pg from 'pg';
import { auditIndex } from '../../capture/audit/audit-index.ts';
import { extensionsOf } from '../../capture/audit/extensions.ts';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { loadChainsFile } from '../../config/load-chains.ts';

/** What is stored of the comparison of a pool or factory. */
export interface AuditRow {
  readonly address: string;
  readonly factory: string;
  readonly tried_at: Date;
  readonly audited_block: string | null;
  readonly agreed_block: string | null;
  readonly suspected_at_block: string | null;
  readonly differs_since: Date | null;
  readonly differences: readonly string[];
  readonly shown: readonly string[];
  readonly is_unread: boolean;
}

/**
 * Compares pools of a chain, by default all of them, with what a node says: at once, or those that are due for capture.
 */
export async function auditPools(
  database: pg.Pool,
  chainsFile: string,
  chainId: number,
  {
    url,
    pools = 1_000,
    bins = 100_000,
    asCapture = false,
  }: {
    readonly url?: string | undefined;
    readonly pools?: number;
    readonly bins?: number;
    readonly asCapture?: boolean;
  } = {},
): Promise<AuditRow[]> {
  const chain = loadChainsFile(chainsFile).chains.find((each) => each.chainId === chainId);
  if (chain === undefined) throw new Error('no such chain');
  const { multicall3, deployments } = chain;
  const rpcUrls = url === undefined ? chain.rpcUrls : [url];
  await auditIndex({
    database,
    target: { rpc: openChainRpc({ chainId, rpcUrls }, 10_000), chainId, multicall3 },
    scope: async () => ({
      layouts: new Map(deployments.map(({ poolFactory, layout }) => [poolFactory, layout])),
      extensions: extensionsOf(deployments),
    }),
    ...(asCapture ? {} : { pace: { minSecs: 0, maxSecs: 0, pools, bins } }),
    onChange: () => undefined,
    wallClock: () => Date.now(),
  });
  const { rows } = await database.query<AuditRow>(
    `SELECT * FROM operator.index_audit
     WHERE chain_id = $1 AND index_schema = read_model.served_schema() ORDER BY address`,
    [chainId],
  );
  return rows;
}

/** Facts that differ, by pool. */
export const differencesOf = (rows: readonly AuditRow[]): ReadonlyMap<string, readonly string[]> =>
  new Map(rows.filter((row) => row.differs_since !== null).map((row) => [row.address, row.differences]));

/**
 * Pools and factories whose last comparison found a difference, or nothing out. A difference counts only once the
 * index has taken another block: this needs no running indexer.
 */
export const suspectedOf = (rows: readonly AuditRow[]): readonly string[] =>
  rows
    .filter(
      (row) => row.is_unread || row.audited_block === null || (row.suspected_at_block ?? row.differs_since) !== null,
    )
    .map(({ address }) => address);
