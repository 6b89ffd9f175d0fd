import type { ChainConfig } from '../../config/chains-schema.ts';
import { type LiveConfig, liveMaxAgeMs } from '../../config/live-schema.ts';
import type { Logger } from '../../runtime/logger.ts';
import { LiveHeads, type LiveHeadsDeps } from './live-heads.ts';
import type { LiveObserver } from './live-metrics.ts';

type Deps = Pick<LiveHeadsDeps, 'committed' | 'feed' | 'protectedAccounts'> & {
  readonly observer?: LiveObserver | undefined;
  readonly logger: Pick<Logger, 'warn'>;
};

/** Makes the live heads of a chain with sources. Counts and logs each time that nodes do not read the block being built. */
export function createLiveHeads(
  { chainId, blockTimeMs, live }: Pick<ChainConfig, 'chainId' | 'blockTimeMs'> & { readonly live: LiveConfig },
  { observer, logger, ...parts }: Deps,
): LiveHeads {
  return new LiveHeads({
    ...parts,
    blockTimeMs,
    maxAgeMs: liveMaxAgeMs(live, blockTimeMs),
    onSuspended: (err) => {
      observer?.suspended();
      logger.warn({ err, chainId }, 'nodes do not read the block that is being built: prices are committed');
    },
  });
}
