import { unknownErrorLog } from '../../chain/unknown-errors.ts';
import { GuardProber, type GuardProberDeps } from '../guards/guard-prober.ts';
import { TransferProver } from '../guards/transfer-prover.ts';
import { AnswersReader, type AnswersReaderDeps } from './answers-reader.ts';
import { CurveSearcher, type CurveSearcherDeps } from './curve-searcher.ts';
import { PoolReader, type PoolReaderDeps } from './pool-reader.ts';
import { UNSHARED } from './shared-reads.ts';
import { SidesReader, type SidesReaderDeps } from './sides-reader.ts';

/** What the reader of a chain's pools is made of. */
export type PoolReaderOptions = Pick<
  PoolReaderDeps,
  'heads' | 'shared' | 'shownAnswers' | 'hasSource' | 'onRead' | 'wallClock'
> &
  Pick<AnswersReaderDeps, 'target' | 'onFees' | 'logger'> &
  Pick<SidesReaderDeps, 'readTimeoutMs'> &
  Pick<CurveSearcherDeps, 'simulatedPoolsPerRead'> & {
    readonly observer: CurveSearcherDeps['observer'] & GuardProberDeps['observer'];
  };

/** Creates the reader of a chain's pools, with the searches and probes that it needs. */
export function createPoolReader({ simulatedPoolsPerRead, observer, ...deps }: PoolReaderOptions): PoolReader {
  const { shared = UNSHARED } = deps;
  const common = { ...deps, shared, observer, logUnknown: unknownErrorLog(deps.logger) };
  const searcher = new CurveSearcher({ ...common, simulatedPoolsPerRead });
  const answers = new AnswersReader({ ...common, searcher, prover: new TransferProver(common) });
  const sides = new SidesReader({ ...common, searcher, prober: new GuardProber(common) });
  return new PoolReader({ ...common, answers, sides });
}
