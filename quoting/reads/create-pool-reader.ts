import { unknownErrorLog } from '../../chain/unknown-errors.ts';
import { GuardProber, type GuardProberDeps } from '../guards/guard-prober.ts';
import { TransferProver } from '../guards/transfer-prover.ts';
import { CurveSearcher, type CurveSearcherDeps } from './curve-searcher.ts';
import { PoolReader, type PoolReaderDeps } from './pool-reader.ts';

/** What the reader of a chain's pools is made of. */
export type PoolReaderOptions = Pick<
  PoolReaderDeps,
  'target' | 'heads' | 'shared' | 'hasSource' | 'readTimeoutMs' | 'logger' | 'wallClock'
> &
  Pick<CurveSearcherDeps, 'simulatedPoolsPerRead'> & {
    readonly observer: CurveSearcherDeps['observer'] & GuardProberDeps['observer'];
  };

/** Creates the reader of a chain's pools, with the searches and probes that it needs. */
export function createPoolReader({ simulatedPoolsPerRead, observer, ...deps }: PoolReaderOptions): PoolReader {
  const common = { ...deps, observer, logUnknown: unknownErrorLog(deps.logger) };
  const searcher = new CurveSearcher({ ...common, simulatedPoolsPerRead });
  return new PoolReader({ ...common, prober: new GuardProber(common), searcher, prover: new TransferProver(common) });
}
