import type pg from 'pg';
import type { Registry } from 'prom-client';
import { followQuotes } from '../../api/latest/chain-quotes.ts';
import { openTakers } from '../../api/levels/open-takers.ts';
import { startSockets } from '../../api/sockets/sockets.ts';
import { startStreams } from '../../api/stream/streams.ts';
import { StreamConfig } from '../../config/stream-schema.ts';
import type { Chain } from '../../quoting/open-chain.ts';
import type { PoolDirectory } from '../../quoting/pools/pool-directory.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Stamp } from '../../runtime/shared-clock.ts';

interface StreamWorld {
  readonly chains: ReadonlyMap<number, Chain>;
  readonly directory: PoolDirectory;
  readonly database: pg.Pool;
  readonly metrics: Registry;
  readonly logger: Logger;
  readonly stream?: Partial<StreamConfig> | undefined;
  /** Default: those of the machine. */
  readonly wallClock?: Clock | undefined;
  readonly stamp?: Stamp | undefined;
}

/** Opens sockets, streams and what takers call, as an API process does. */
export function openStreams({
  chains,
  directory,
  stream,
  wallClock = () => Date.now(),
  stamp = async () => wallClock(),
  ...common
}: StreamWorld) {
  const sockets = startSockets({ ...common, chains, config: { ...StreamConfig.parse({}), ...stream } });
  const latest = followQuotes(chains, directory);
  const streams = startStreams({ latest, sockets, metrics: common.metrics });
  const takers = openTakers({
    ...common,
    chains,
    latest,
    directory,
    now: () => performance.now(),
    wallClock,
    stamp,
  });
  const stop = () => {
    streams.stop();
    sockets.stop();
  };
  return { sockets, streams, takers, stop };
}
