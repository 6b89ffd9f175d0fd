import { randomBytes, randomInt } from 'node:crypto';
import type { Address } from 'viem';
import type { StreamConfig } from '../../config/stream-schema.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Logger } from '../../runtime/logger.ts';
import { unavailable } from '../errors.ts';
import type { PoolDirectory } from '../snapshots/pool-directory.ts';
import type { SnapshotService } from '../snapshots/types.ts';
import type { PoolWarmers } from '../warming/pool-warmers.ts';
import { ChainStreamHub } from './chain-stream.ts';
import type { ChainStream, StreamObserver, Streams } from './types.ts';

export interface StreamServiceDeps {
  readonly chainIds: readonly number[];
  readonly config: StreamConfig;
  readonly warmers: Pick<PoolWarmers, 'of'>;
  readonly snapshots: SnapshotService;
  readonly directory: PoolDirectory;
  readonly database: Queryable;
  readonly observer?: StreamObserver;
  readonly logger: Logger;
}

const TICK_MS = 1_000;
/** Clients of a process that stops come back within these times, not all at once. */
const RETRY_MS = [1_000, 5_000] as const;

/** The streams of all chains of the configuration. */
export class StreamService implements Streams {
  readonly #hubs: ReadonlyMap<number, ChainStreamHub>;
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor({ chainIds, config, warmers, snapshots, directory, database, observer, logger }: StreamServiceDeps) {
    const epoch = randomBytes(6).toString('hex');
    const delisted = async (chainId: number, pools: readonly Address[]) =>
      readDelisted(database, chainId, pools).catch((error) => {
        logger.warn({ err: error }, 'it was not read which pools are delisted');
        return new Set<Address>();
      });
    const make = (chainId: number) =>
      new ChainStreamHub({
        chainId,
        epoch,
        config,
        directory,
        delisted,
        warmer: warmers.of(chainId),
        snapshots: snapshots.of(chainId),
        ...(observer && { observer }),
      });
    this.#hubs = new Map(chainIds.map((chainId) => [chainId, make(chainId)]));
    this.#timer = setInterval(() => {
      for (const hub of this.#hubs.values()) hub.tick();
    }, TICK_MS).unref();
  }

  of(chainId: number): ChainStream {
    const hub = this.#hubs.get(chainId);
    if (!hub) throw new RangeError(`chain ${chainId} is not configured`);
    if (this.#isClosed) throw unavailable(new Error('the process stops'));
    return hub;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const hub of this.#hubs.values()) hub.close('shutdown', () => randomInt(...RETRY_MS));
  }
}

async function readDelisted(database: Queryable, chainId: number, pools: readonly Address[]): Promise<Set<Address>> {
  const { rows } = await database.query<{ pool: Address }>(
    'SELECT pool FROM read_model.delisted_pool WHERE chain_id = $1 AND pool = ANY($2)',
    [chainId, pools],
  );
  return new Set(rows.map(({ pool }) => pool));
}
